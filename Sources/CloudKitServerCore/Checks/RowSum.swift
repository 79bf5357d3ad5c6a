/// A sum of rows in any order, to compare what is there with what should be without keeping either.
struct RowSum: Hashable {
    private var count = 0
    private var sum: UInt64 = 0

    /// Adds a row.
    mutating func add(_ row: some Hashable) {
        var hasher = Hasher()
        hasher.combine(row)
        count += 1
        sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// The sum of no rows.
    init() {}

    /// The sum of rows of which one that comes twice is one.
    init(_ rows: [some Hashable]) {
        for row in Set(rows) { add(row) }
    }
}
