#if PostgreSQL
import CloudKitServerCore
import Synchronization

/// The memory that the connections of one node share: row numbers to give, and numbers that never change.
final class NodeMemory: Sendable {
    private struct State {
        var numbers = RowNumbers()
        var databases: [DatabaseKey: Int64] = [:]
        var names: [DatabaseName: Int64] = [:]
        var homes: [Int64: Int64] = [:]
        var commits = 0
    }

    /// The name of the node in its notices to others.
    let node = String(UInt64.random(in: .min ... .max), radix: 36)

    /// The maximum number of remembered zones or databases; one more replaces them all.
    private static let capacity = 100_000

    /// The number of commits after which one removes what earlier ones have left.
    static let commitsPerTidying = 256

    private let state = Mutex(State())

    /// Counts a commit; returns whether it has to remove what earlier ones have left.
    func isTimeToTidy() -> Bool {
        state.withLock { state in
            state.commits += 1
            return state.commits.isMultiple(of: Self.commitsPerTidying)
        }
    }

    /// Returns the next row number; nil if a block is needed.
    func takeNumber() -> Int64? { state.withLock { $0.numbers.take() } }

    /// `true` when the numbers will not last for many more rows.
    var needsNumbers: Bool { state.withLock { $0.numbers.isLow } }

    /// Adds a block of numbers.
    func addNumbers(from first: Int64) { state.withLock { $0.numbers.add(from: first) } }

    /// Returns the number of a database, if it is known.
    func database(_ key: DatabaseKey) -> Int64? { state.withLock { $0.databases[key] } }

    /// Returns the number of a zone's database, if it is known.
    func home(of zone: RowID<StoredZone>) -> Int64? {
        state.withLock { $0.homes[zone.rawValue] }
    }

    /// Returns the number of a database by the name of its owner, if it is known.
    ///
    /// Another user may have the name meanwhile: a write notices that it changes another database.
    func database(_ name: DatabaseName) -> Int64? { state.withLock { $0.names[name] } }

    /// Remembers the database of an owner.
    func remember(_ number: Int64, of name: DatabaseName) {
        state.withLock { state in
            if state.names.count > Self.capacity { state.names = [:] }
            state.names[name] = number
        }
    }

    /// Forgets the names of owners, after a write has changed more than it announced.
    func forgetNames() { state.withLock { $0.names = [:] } }

    /// Remembers rows of a transaction that has committed, or has read what others committed.
    func remember(_ databases: [DatabaseKey: Int64], homes: [Int64: Int64]) {
        guard !databases.isEmpty || !homes.isEmpty else { return }
        state.withLock { state in
            if state.databases.count > Self.capacity { state.databases = [:] }
            if state.homes.count > Self.capacity { state.homes = [:] }
            state.databases.merge(databases) { $1 }
            state.homes.merge(homes) { $1 }
        }
    }
}

/// Row numbers that a node has reserved.
struct RowNumbers {
    /// The number of numbers in a block.
    static let block: Int64 = 4096

    private var blocks: [Range<Int64>] = []

    /// `true` when fewer than half a block are left.
    var isLow: Bool {
        blocks.count < 2 && blocks.first.map { $0.count < Self.block / 2 } ?? true
    }

    mutating func add(from first: Int64) { blocks.append(first..<first + Self.block) }

    mutating func take() -> Int64? {
        guard let first = blocks.first?.first else { return nil }
        blocks[0] = first + 1..<blocks[0].upperBound
        if blocks[0].isEmpty { blocks.removeFirst() }
        return first
    }
}
#endif
