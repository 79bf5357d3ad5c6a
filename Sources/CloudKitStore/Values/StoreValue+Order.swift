extension StoreValue: Comparable {
    /// Returns whether one value sorts before another: numbers by size, texts and lists by their
    /// parts, different kinds by kind.
    public static func < (one: StoreValue, other: StoreValue) -> Bool {
        if let one = one.number, let other = other.number, one != other { return one < other }
        return one.sortKey < other.sortKey
    }

    /// The value as a number, if it is one.
    var number: Double? {
        switch plain {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }

    /// The elements of a list; none for null.
    var elements: [StoreValue]? {
        switch plain {
        case .list(let elements): elements
        case .null: isNull ? [] : nil
        default: nil
        }
    }

    /// A total order over all values, the same on every device.
    var sortKey: SortKey {
        switch self {
        case .null: SortKey(kind: 0)
        case .integer(let number): SortKey(kind: 1, number: Double(number), whole: number)
        case .real(let number): SortKey(kind: 1, number: number)
        case .date(let milliseconds): SortKey(kind: 2, whole: milliseconds)
        case .text(let text): SortKey(kind: 3, bytes: Array(text.utf8))
        case .reference(let name): SortKey(kind: 4, bytes: Array(name.utf8))
        case .bytes(let data): SortKey(kind: 5, bytes: Array(data))
        case .asset(let asset):
            SortKey(kind: 6, whole: Int64(bitPattern: asset.digest), bytes: [])
        case .location(let latitude, let longitude):
            SortKey(kind: 7, number: latitude, parts: [SortKey(kind: 1, number: longitude)])
        case .list(let values): SortKey(kind: 8, parts: values.map(\.sortKey))
        case .written(let value, let form): value.sortKey.written(form)
        }
    }

    /// The sort key of a value.
    struct SortKey: Comparable {
        var kind: Int
        var number: Double = 0
        var whole: Int64 = 0
        var bytes: [UInt8] = []
        var parts: [SortKey] = []
        /// The written form, which orders values that are equal otherwise.
        var form: [UInt8] = []

        func written(_ form: String) -> SortKey {
            var key = self
            key.form = Array(form.utf8)
            return key
        }

        static func < (one: SortKey, other: SortKey) -> Bool {
            if one.kind != other.kind { return one.kind < other.kind }
            if one.number != other.number { return one.number < other.number }
            if one.whole != other.whole { return one.whole < other.whole }
            if one.bytes != other.bytes { return one.bytes.lexicographicallyPrecedes(other.bytes) }
            if one.parts.lexicographicallyPrecedes(other.parts) { return true }
            if other.parts.lexicographicallyPrecedes(one.parts) { return false }
            return one.form.lexicographicallyPrecedes(other.form)
        }
    }
}
