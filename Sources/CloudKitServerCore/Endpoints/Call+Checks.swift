import CloudKitWire

extension Call {
    /// Refuses more items than a request may have.
    func checkCount(
        _ count: Int,
        _ what: String,
        limit: Int = Limits.operationsPerRequest
    ) throws(RequestError) {
        guard count <= limit else {
            throw RequestError(
                .badRequest,
                reason: "The request has \(count) \(what); at most \(limit) are allowed",
                nativeErrorCode: .limitExceeded
            )
        }
    }

    /// Refuses a request that names an item twice.
    func checkUnique(_ names: some Sequence<String>, _ what: String) throws(RequestError) {
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            throw RequestError(
                .badRequest,
                reason: "The request has more than one operation for the \(what) '\(name)'"
            )
        }
    }

    /// Refuses the public database, which lacks features of custom zones.
    func checkIsNotPublic() throws(RequestError) {
        guard path.database != .public else {
            throw RequestError(
                .badRequest,
                reason: "endpoint not applicable in the database type 'publicdb'"
            )
        }
    }
}
