import CloudKitWire

extension JSONWriter {
    /// Writes the body of a failed request.
    mutating func requestError(_ error: RequestError) {
        openObject()
        member("uuid", error.uuid)
        member("serverErrorCode", error.serverErrorCode.rawValue)
        member("reason", error.reason)
        member("retryAfter", error.retryAfter)
        member("redirectURL", error.redirectURL)
        member("nativeErrorCode", error.nativeErrorCode.map(Int64.init))
        member("deletionReason", error.deletionReason?.rawValue)
        closeObject()
    }

    /// Writes the error of one item.
    mutating func itemError(_ error: ItemError) {
        openObject()
        member("recordName", error.recordName)
        if let zoneID = error.zoneID {
            key("zoneID")
            self.zoneID(zoneID)
        }
        member("subscriptionID", error.subscriptionID)
        member("reason", error.reason)
        member("serverErrorCode", error.serverErrorCode.rawValue)
        member("retryAfter", error.retryAfter)
        member("uuid", error.uuid)
        member("redirectURL", error.redirectURL)
        member("nativeErrorCode", error.nativeErrorCode.map(Int64.init))
        member("deletionReason", error.deletionReason?.rawValue)
        closeObject()
    }
}
