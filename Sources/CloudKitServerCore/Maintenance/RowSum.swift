/// An order-independent sum of rows, which compares actual with expected rows without keeping either.
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

    /// Creates the sum of no rows.
    init() {}

    /// Creates the sum of rows, in which duplicates count once.
    init(_ rows: [some Hashable]) {
        for row in Set(rows) { add(row) }
    }
}
