import GRDB

/// The file's clock: it never goes backwards, and its offset from the server's clock is known from
/// the last response.
struct StoreClock {
    var device: String
    /// The offset to add to this device's times to get the server's.
    var shift: Int64

    /// The time of values that were there before the first sync: older than every edit.
    static let start: Int64 = 1

    init(_ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "SELECT device, shift FROM grdb_cloudkit_control"
        )
        guard let row = try Row.fetchOne(statement) else {
            throw CloudStoreError(.unreadableFile, "The table grdb_cloudkit_control is empty")
        }
        device = row[0]
        shift = row[1]
    }

    /// Returns a new time, later than every other time of this file.
    static func tick(_ database: Database) throws -> Int64 {
        try ticks(database, 1).lowerBound
    }

    /// Returns consecutive new times, later than every other time of this file.
    static func ticks(_ database: Database, _ count: Int) throws -> Range<Int64> {
        try database.run(
            "UPDATE grdb_cloudkit_control SET clock = max(clock + 1, \(ControlTables.now)) + ? - 1",
            [count]
        )
        let statement = try database.cachedStatement(sql: "SELECT clock FROM grdb_cloudkit_control")
        let last = try Int64.fetchOne(statement) ?? 0
        return last + 1 - Int64(count)..<last + 1
    }

    /// Advances past the versions of all outbox entries, which are unique in the file.
    static func passOutbox(_ database: Database) throws {
        try database.run(
            """
            UPDATE grdb_cloudkit_control SET clock =
                max(clock, coalesce((SELECT max(version) FROM grdb_cloudkit_outbox), 0))
            """
        )
    }

    /// Adjusts the offset to the server's time in a response.
    static func adjust(_ database: Database, server: Int64) throws {
        try database.run(
            // Trusted within half a minute: part of a difference is the time of the response.
            """
            UPDATE grdb_cloudkit_control SET shift = CASE
                WHEN abs(? - max(clock, \(ControlTables.now))) < 30000000 THEN 0
                ELSE ? - max(clock, \(ControlTables.now)) END
            """,
            [server, server]
        )
    }

    /// Returns a time of this device as the server's clock would have shown it.
    func edit(_ time: Int64) -> EditTime {
        EditTime(microseconds: time &+ shift, device: device)
    }

    /// Returns the time of an edit as this device's clock would have shown it.
    func time(of edit: EditTime) -> Int64 { edit.microseconds &- shift }
}
