/// A row as one side has it.
package struct MergeVersion: Hashable {
    /// The values; a field that is missing has no value.
    package var fields: [String: StoreValue]
    /// When the fields were edited since the base, as far as that is known.
    package var times: [String: EditTime] = [:]

    package init(fields: [String: StoreValue], times: [String: EditTime] = [:]) {
        self.fields = fields
        self.times = times
    }

    func value(_ field: String) -> StoreValue { fields[field] ?? .null }
}
