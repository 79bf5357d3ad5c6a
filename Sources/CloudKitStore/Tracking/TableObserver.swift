import GRDB
import Synchronization

/// A transaction observer that reports each commit that changed one of some tables.
///
/// GRDB asks every observer about every statement that the app executes. `DatabaseRegionObservation`
/// answers with operations on sets, which take longer than a small write; this one compares names.
final class TableObserver: TransactionObserver, Sendable {
    private struct State {
        var hasChanged = false
        var onChange: (@Sendable (Database) -> Void)?
    }

    private let tables: [String]
    private let state: Mutex<State>

    private init(_ tables: [String], _ onChange: @escaping @Sendable (Database) -> Void) {
        self.tables = tables
        state = Mutex(State(onChange: onChange))
    }

    /// Starts to observe tables, each of which has rowids: SQLite does not report changes of others.
    ///
    /// - Parameters:
    ///   - tables: The names of the tables.
    ///   - writer: The database, with which the observation ends.
    ///   - onChange: A closure that is called in the queue of the database's writes, before the write returns.
    /// - Returns: The observation, which also ends when it is released.
    static func observe(
        _ tables: String...,
        in writer: any DatabaseWriter,
        onChange: @escaping @Sendable (Database) -> Void
    ) -> AnyDatabaseCancellable {
        let observer = TableObserver(tables, onChange)
        writer.asyncWriteWithoutTransaction { database in
            database.add(transactionObserver: observer, extent: .observerLifetime)
        }
        return AnyDatabaseCancellable { observer.state.withLock { $0.onChange = nil } }
    }

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool {
        switch kind {
        case .insert(let table), .delete(let table), .update(let table, _): tables.contains(table)
        }
    }

    func databaseDidChange(with event: DatabaseEvent) {
        state.withLock { $0.hasChanged = true }
        // One change is enough: the others of the transaction need no report.
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    func databaseDidCommit(_ database: Database) {
        let onChange = state.withLock { state in
            defer { state.hasChanged = false }
            return state.hasChanged ? state.onChange : nil
        }
        onChange?(database)
    }

    func databaseDidRollback(_ database: Database) {
        state.withLock { $0.hasChanged = false }
    }
}
