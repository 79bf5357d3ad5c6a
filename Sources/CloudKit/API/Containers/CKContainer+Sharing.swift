public import Foundation

extension CKContainer {
    /// Fetches the metadata of the shares that links lead to; the result has an entry for every
    /// link.
    public func shareMetadatas(
        for urls: [URL]
    ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        try await requests.metadata(for: urls)
    }

    /// Fetches the metadata of the shares that links lead to; the result has an entry for every
    /// link.
    @preconcurrency
    public func fetchShareMetadatas(
        for urls: [URL],
        completionHandler:
            @escaping @Sendable (
                Result<[URL: Result<CKShare.Metadata, any Error>], any Error>
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.metadata(for: urls)
        }
    }

    /// Accepts invitations; the result has an entry for each one.
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        try await requests.accept(metadatas)
    }

    /// Accepts invitations; the result has an entry for each one.
    @preconcurrency
    public func accept(
        _ metadatas: [CKShare.Metadata],
        completionHandler:
            @escaping @Sendable (
                Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>
            ) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.accept(metadatas)
        }
    }

    var requests: ContainerRequests {
        ContainerRequests(
            connection: connection,
            settings: settings.callRequests,
            signIn: connection.signIn
        )
    }
}
