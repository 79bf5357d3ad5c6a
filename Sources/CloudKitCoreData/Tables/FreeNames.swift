/// Unique names of tables or columns.
///
/// SQLite ignores the case of names.
struct FreeNames {
    private var taken: Set<String>

    init(_ taken: String...) { self.taken = Set(taken.map { $0.lowercased() }) }

    /// Returns the name, followed by digits if it is taken.
    mutating func take(_ name: String) -> String {
        let lowercased = name.lowercased()
        // Prefixes that SQLite and GRDB reserve.
        let isReserved = ["sqlite_", "grdb_"].contains { lowercased.hasPrefix($0) }
        let base = isReserved ? "_" + name : name
        var (free, digit) = (base, 0)
        while !taken.insert(free.lowercased()).inserted {
            digit += 1
            free = base + String(digit)
        }
        return free
    }
}

/// The names of the two tables of a converted database that are no entity's.
enum RecordTableNames {
    static let zones = "coreDataZone"
    static let records = "coreDataRecord"
}
