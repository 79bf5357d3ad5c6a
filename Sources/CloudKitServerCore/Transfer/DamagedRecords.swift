/// Records whose rows do not match their checksums.
package struct DamagedRecords: Hashable, Sendable, Codable {
    private static let named = 20

    /// The number of them, also in snapshots.
    package private(set) var count = 0
    /// The names of the first ones, as far as they can be read.
    package private(set) var names: [String] = []

    /// Creates an empty list.
    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// Adds a record.
    package mutating func add(_ name: String) {
        count += 1
        if names.count < Self.named { names.append(name) }
    }
}
