import GRDB

/// The records for which others wait in the end: those between wait, too.
struct WaitingTargets {
    /// The reason why a record does not end the wait for it.
    enum Reason {
        /// It has arrived, and is quarantined.
        case isQuarantined
        /// The user has deleted it here, and the deletion is not sent.
        case isDeleted
        /// It has not arrived, or its owner does not share it.
        case isMissing
    }

    private let database: Database
    private let quarantined: Set<String>

    init(_ database: Database) throws {
        self.database = database
        quarantined = try KnownRecord.quarantinedNames(database)
    }

    /// Returns the record that ends a wait, with the reason why it does not.
    ///
    /// - Parameters:
    ///   - name: The name of the record that another one waits for; empty if unknown.
    ///   - zone: The zone of both.
    /// - Returns: The name of the last record that waits, or of the one that it waits for.
    /// - Throws: An error of the database.
    func target(_ name: String, in zone: StoreZone) throws -> (name: String, reason: Reason) {
        var current = name
        var seen: Set<String> = []
        // A cycle of records that wait for each other ends where they repeat.
        while !current.isEmpty, seen.insert(current).inserted {
            if quarantined.contains(KnownRecord.name(current, asideIn: zone)) {
                return (current, .isQuarantined)
            }
            guard let known = try KnownRecord.fetch(database, name: current), known.zone == zone
            else { break }
            if let key = known.key, try OutboxEntry.fetch(database, key)?.isDeleted == true {
                return (current, .isDeleted)
            }
            guard let next = known.waiting else { break }
            current = next
        }
        return (current, .isMissing)
    }
}
