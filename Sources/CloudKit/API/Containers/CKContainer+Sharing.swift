public import Foundation

extension CKContainer {
    /// Says what a link to a share stands for.
    ///
    /// - Throws: `CKError.unknownItem` for a link that leads nowhere.
    public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        try await requests.metadata(for: [url]).single(url)
    }

    /// Says what a link to a share stands for.
    public func fetchShareMetadata(
        with url: URL,
        completionHandler: @escaping @Sendable (CKShare.Metadata?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.metadata(for: [url]).single(url)
        }
    }

    /// Says what links to shares stand for; every link has an entry in the answer.
    public func shareMetadatas(
        for urls: [URL]
    ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        try await requests.metadata(for: urls)
    }

    /// Says what links to shares stand for; every link has an entry in the answer.
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

    /// Accepts an invitation; the share's zone then appears in the shared database.
    @discardableResult
    public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        try await requests.accept([metadata]).single(metadata)
    }

    /// Accepts an invitation; the share's zone then appears in the shared database.
    public func accept(
        _ metadata: CKShare.Metadata,
        completionHandler: @escaping @Sendable (CKShare?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { [requests] () async throws(CKError) in
            try await requests.accept([metadata]).single(metadata)
        }
    }

    /// Accepts invitations; every one has an entry in the answer.
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        try await requests.accept(metadatas)
    }

    /// Accepts invitations; every one has an entry in the answer.
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
        ContainerRequests(connection: connection, settings: settings.requests)
    }
}
