extension CKContainer {
    /// Returns the IDs of operations that outlive the process: none, because no operation does
    /// here.
    public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] { [] }

    /// Fetches the IDs of operations that outlive the process: none, because no operation does
    /// here.
    @preconcurrency
    public func fetchAllLongLivedOperationIDs(
        completionHandler: @escaping @Sendable ([CKOperation.ID]?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { () async throws(CKError) in [] }
    }

    /// Returns an operation that outlives the process: always nil, because no operation does here.
    public func longLivedOperation(
        for operationID: CKOperation.ID
    ) async throws -> CKOperation? {
        nil
    }

    /// Fetches an operation that outlives the process: always nil, because no operation does here.
    @preconcurrency
    public func fetchLongLivedOperation(
        withID operationID: CKOperation.ID,
        completionHandler: @escaping @Sendable (CKOperation?, (any Error)?) -> Void
    ) {
        complete({ (result: Result<CKOperation?, any Error>) in
            completionHandler(result.value ?? nil, result.error)
        }) { () async throws(CKError) in nil }
    }
}
