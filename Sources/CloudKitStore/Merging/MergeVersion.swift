/// One side's version of a row.
package struct MergeVersion: Hashable {
    /// The values; a missing field has no value.
    package var fields: [String: StoreValue]
    /// The times at which fields were edited since the base, as far as known.
    package var times: [String: EditTime] = [:]

    package init(fields: [String: StoreValue], times: [String: EditTime] = [:]) {
        self.fields = fields
        self.times = times
    }

    func value(_ field: String) -> StoreValue { fields[field] ?? .null }
}
