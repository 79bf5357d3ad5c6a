public import CloudKit

/// The reminders of one user, as an app for Apple's framework would implement them.
public actor ReminderList {
    private let database: CKDatabase

    /// Creates a list that stores reminders in a database.
    public init(_ database: CKDatabase) {
        self.database = database
    }

    /// Adds a reminder.
    public func add(_ title: String, due: Date) async throws {
        let record = CKRecord(recordType: "Reminder")
        record["title"] = title
        record["due"] = due
        _ = try await database.save(record)
    }

    /// Returns the titles of the reminders due by a date, in the order of their dates.
    public func titles(dueBy date: Date) async throws -> [String] {
        let query = CKQuery(
            recordType: "Reminder",
            predicate: NSPredicate(format: "due <= %@", date as CVarArg)
        )
        query.sortDescriptors = [NSSortDescriptor(key: "due", ascending: true)]
        let (matches, _) = try await database.records(matching: query)
        return try matches.compactMap { try $0.1.get()["title"] as? String }
    }
}
