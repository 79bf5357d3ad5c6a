import GRDB

/// The file's clock: it never goes backwards, and its distance from the server's is known from the
/// last answer.
struct StoreClock {
    var device: String
    /// What to add to this device's times to have the server's.
    var shift: Int64

    init(_ database: Database) throws {
        let row = try Row.fetchOne(database, sql: "SELECT device, shift FROM cloudkit_control")
        guard let row else {
            throw CloudStoreError(.unreadableFile, "The table cloudkit_control is empty")
        }
        device = row["device"]
        shift = row["shift"]
    }

    /// A new time, later than every other of this file.
    static func tick(_ database: Database) throws -> Int64 {
        let tick = try database.cachedStatement(
            sql: "UPDATE cloudkit_control SET clock = max(clock + 1, \(ControlTables.now))"
        )
        try tick.execute()
        let clock = try database.cachedStatement(sql: "SELECT clock FROM cloudkit_control")
        return try Int64.fetchOne(clock) ?? 0
    }

    /// Learns the server's time from an answer.
    static func adjust(_ database: Database, server: Int64) throws {
        try database.execute(
            sql: """
                UPDATE cloudkit_control SET shift = CASE
                    WHEN abs(? - max(clock, \(ControlTables.now))) < 30000000 THEN 0
                    ELSE ? - max(clock, \(ControlTables.now)) END
                """,
            arguments: [server, server]
        )
    }

    /// A time of this device as the server's clock would have told it.
    func edit(_ time: Int64) -> EditTime {
        EditTime(microseconds: time &+ shift, device: device)
    }
}
