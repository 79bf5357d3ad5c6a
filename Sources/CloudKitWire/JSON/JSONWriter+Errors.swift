extension JSONWriter {
    /// Writes the body of a failed request.
    package mutating func requestError(_ error: RequestError) {
        typealias Key = RequestError.CodingKeys
        openObject()
        member(Key.uuid, error.uuid)
        member(Key.serverErrorCode, error.serverErrorCode.rawValue)
        member(Key.reason, error.reason)
        member(Key.retryAfter, error.retryAfter)
        member(Key.redirectURL, error.redirectURL)
        member(Key.nativeErrorCode, error.nativeErrorCode.map(Int64.init))
        member(Key.deletionReason, error.deletionReason?.rawValue)
        closeObject()
    }

    /// Writes the error of one item.
    package mutating func itemError(_ error: ItemError) {
        typealias Key = ItemError.CodingKeys
        openObject()
        member(Key.recordName, error.recordName)
        if let zoneID = error.zoneID {
            key(Key.zoneID)
            self.zoneID(zoneID)
        }
        member(Key.subscriptionID, error.subscriptionID)
        member(Key.reason, error.reason)
        member(Key.serverErrorCode, error.serverErrorCode.rawValue)
        member(Key.retryAfter, error.retryAfter)
        member(Key.uuid, error.uuid)
        member(Key.redirectURL, error.redirectURL)
        member(Key.nativeErrorCode, error.nativeErrorCode.map(Int64.init))
        member(Key.deletionReason, error.deletionReason?.rawValue)
        closeObject()
    }
}
