/// Names of tables or columns, each of which is given once.
///
/// SQLite does not tell upper and lower case apart.
struct FreeNames {
    private var taken: Set<String>

    init(_ taken: String...) { self.taken = Set(taken.map { $0.lowercased() }) }

    /// The name, with digits after it where it is taken.
    mutating func take(_ name: String) -> String {
        let lowercased = name.lowercased()
        // Names that SQLite and GRDB keep to themselves.
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
