import CloudKitWire

extension Limits {
    /// Returns the size of a page: the requested number, up to the limit.
    static func pageSize(_ requested: Int?) -> Int {
        min(max(requested ?? recordsPerResponse, 1), recordsPerResponse)
    }
}
