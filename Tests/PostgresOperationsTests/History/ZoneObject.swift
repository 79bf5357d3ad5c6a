/// A zone as one object: a record as a register, and records of other names as a set.
struct ZoneObject: SequentialObject {
    /// An operation with its outcome.
    ///
    /// Values of the register are unlike each other; the names of the set are numbers below 64, and sets of
    /// them are their bits.
    enum Operation: Hashable, Sendable {
        /// A lookup of the register.
        case read(Int)
        /// A write over whatever the register has.
        case write(Int)
        /// A write over one value, which a change tag stands for.
        case exchange(Int, to: Int, isDone: Bool)
        case add(Int, isDone: Bool)
        /// A deletion, which need not find what it deletes.
        case remove(Int, isDone: Bool)
        /// All that the feed has, in one page.
        case list(register: Int, names: UInt64)
        /// A query, which reads the index.
        case find(names: UInt64)
        /// A batch that is kept entirely or not at all.
        case exchangeAndAdd(Int, to: Int, Int, isDone: Bool)
    }

    /// The value of the register.
    var register: Int
    /// The bits of the names in the set.
    var names: UInt64 = 0

    mutating func apply(_ operation: Operation) -> Bool {
        switch operation {
        case .read(let value): return register == value
        case .write(let value): register = value
        case .exchange(let expected, let value, let isDone):
            guard isDone == (register == expected) else { return false }
            if isDone { register = value }
        case .add(let name, let isDone):
            guard isDone == !has(name) else { return false }
            if isDone { names |= 1 << UInt64(name) }
        case .remove(let name, let isDone):
            guard isDone || !has(name) else { return false }
            names &= ~(1 << UInt64(name))
        case .list(let value, let found): return register == value && names == found
        case .find(let found): return names == found
        case .exchangeAndAdd(let expected, let value, let name, let isDone):
            guard isDone == (register == expected && !has(name)) else { return false }
            if isDone {
                register = value
                names |= 1 << UInt64(name)
            }
        }
        return true
    }

    static func isObservation(_ operation: Operation) -> Bool {
        switch operation {
        case .read, .list, .find: true
        case .write: false
        case .exchange(_, _, let isDone), .add(_, let isDone), .remove(_, let isDone),
            .exchangeAndAdd(_, _, _, let isDone):
            !isDone
        }
    }

    private func has(_ name: Int) -> Bool { names & 1 << UInt64(name) != 0 }
}
