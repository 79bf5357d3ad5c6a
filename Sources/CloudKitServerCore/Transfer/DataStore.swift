#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// All data of a server, for copies from one engine to another.
///
/// Its calls block; none is made on Swift's own threads.
package protocol DataStore: Sendable {
    /// The place of the data, for messages.
    var name: String { get }

    /// Runs a closure on one consistent state of the data.
    func read<Value>(_ body: (any DataReader) throws -> Value) throws -> Value

    /// Runs a closure whose changes are kept entirely or not at all.
    func write(_ body: (any DataWriter) throws -> Void) throws

    /// Ends the use of the data, of which everything is durable then.
    ///
    /// - Throws: `StorageError`.
    func close() throws
}

/// The rows of all tables in one state.
package protocol DataReader {
    /// Returns the rows of a table in order.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - key: The values of the row to begin after; nil for the beginning.
    /// - Returns: The rows, which are valid until the closure of the read ends.
    /// - Throws: `StorageError`.
    func rows(of table: DataTable, after key: [DataValue]?) throws -> any DataCursor

    /// Returns the number of rows of a table.
    func rowCount(of table: DataTable) throws -> Int

    /// Returns the checksums of assets that records, or those of snapshots, hold; each once, in order.
    func assets(after checksum: Data, limit: Int) throws -> [Data]

    /// Returns the highest numbers that rows may have had.
    func counters() throws -> DataCounters

    /// Returns the state of the copy to this data that has not ended; nil for data without one.
    func copyState() throws -> Data?
}

/// Rows that are read one by one.
package protocol DataCursor: AnyObject {
    /// Returns the next row, whose values are in the order of the columns; nil after the last one.
    func next() throws -> [DataValue]?
}

/// The writes of a copy.
package protocol DataWriter {
    /// Adds rows to a table.
    func add(_ rows: [[DataValue]], to table: DataTable) throws

    /// Replaces the state of the copy, so that two copies to the same data notice each other.
    ///
    /// - Parameters:
    ///   - old: The state that must be there; nil for none.
    ///   - new: The state to keep; nil for none.
    /// - Throws: `StorageError` when another state is there.
    func replaceCopyState(_ old: Data?, with new: Data?) throws

    /// Adds what the engine derives from the rows, once all of them are there.
    ///
    /// - Parameter counters: The highest numbers that rows may have had; later rows get higher ones.
    /// - Throws: `StorageError`.
    func finishRows(_ counters: DataCounters) throws
}

/// The highest numbers that rows may have had.
package struct DataCounters: Hashable, Sendable {
    /// The highest number of a row other than a push.
    package var row: Int64
    /// The highest number of a push.
    package var push: Int64

    /// Creates counters.
    package init(row: Int64, push: Int64) {
        self.row = row
        self.push = push
    }
}
