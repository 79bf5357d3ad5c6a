extension CKContainer {
    /// Lists operations that outlive the process: none, operations live as long as the process here.
    public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] { [] }

    /// Lists operations that outlive the process: none, operations live as long as the process here.
    @preconcurrency
    public func fetchAllLongLivedOperationIDs(
        completionHandler: @escaping @Sendable ([CKOperation.ID]?, (any Error)?) -> Void
    ) {
        complete(completionHandler) { () async throws(CKError) in [] }
    }

    /// Finds an operation that outlives the process: none does here.
    public func longLivedOperation(
        for operationID: CKOperation.ID
    ) async throws -> CKOperation? {
        nil
    }

    /// Finds an operation that outlives the process: none does here.
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
