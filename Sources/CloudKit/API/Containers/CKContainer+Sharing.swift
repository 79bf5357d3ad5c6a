public import Foundation

extension CKContainer {
    /// Says what links to shares stand for; every link has an entry in the answer.
    public func shareMetadatas(
        for urls: [URL]
    ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        try await requests.metadata(for: urls)
    }

    /// Says what links to shares stand for; every link has an entry in the answer.
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

    /// Accepts invitations; every one has an entry in the answer.
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        try await requests.accept(metadatas)
    }

    /// Accepts invitations; every one has an entry in the answer.
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
