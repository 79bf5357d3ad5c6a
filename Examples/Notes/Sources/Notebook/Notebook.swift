import CloudKit
import CloudKitStore
import Foundation
import GRDB

/// Notes in a SQLite file, the same on all of a user's devices.
///
/// Everything here is plain GRDB; the store observes what is written.
package struct Notebook: Sendable {
    package let database: DatabasePool
    package let store: CloudStore

    /// Opens a notebook.
    ///
    /// - Parameters:
    ///   - path: The file, created when it does not exist.
    ///   - container: The user's container.
    ///   - syncsAutomatically: Whether changes are sent and fetched automatically.
    /// - Throws: When the file cannot be opened, or is not a database.
    package init(at path: String, container: CKContainer, syncsAutomatically: Bool = true) throws {
        database = try DatabasePool(path: path)
        try Self.migrator.migrate(database)
        var configuration = CloudStore.Configuration()
        configuration.zoneName = "Notes"
        configuration.syncsAutomatically = syncsAutomatically
        // Lost edits are reported on both sides.
        configuration.journal = .shared
        store = try CloudStore(
            database: database,
            container: container,
            tables: Self.tables,
            configuration: configuration
        )
    }

    /// The synced tables.
    package static let tables: [SyncedTable] = [
        .table("note", fieldRules: ["tags": .set], forms: ["tags": .list]),
        .table("attachment", assets: ["data": .withRow]),
    ]

    /// The versions of the file.
    package static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { database in
            try database.execute(
                sql: """
                    CREATE TABLE note (
                        id TEXT PRIMARY KEY NOT NULL,
                        title TEXT NOT NULL,
                        body TEXT NOT NULL DEFAULT '',
                        tags TEXT NOT NULL DEFAULT '[]'
                    );
                    CREATE TABLE attachment (
                        id TEXT PRIMARY KEY NOT NULL,
                        note TEXT NOT NULL REFERENCES note (id) ON DELETE CASCADE,
                        name TEXT NOT NULL,
                        data BLOB
                    );
                    CREATE INDEX attachment_note ON attachment (note);
                    """
            )
        }
        return migrator
    }

    // MARK: Reading

    /// Returns all notes, or those with a tag, by title.
    package func notes(tagged tag: String? = nil) async throws -> [Note] {
        try await database.read { try Self.notes($0) }
            .filter { tag.map($0.tags.contains) ?? true }
    }

    /// Returns an observation of the list, which reports every change, whoever made it.
    package func watch() -> AsyncValueObservation<[Note]> {
        ValueObservation.tracking { try Self.notes($0) }.removeDuplicates().values(in: database)
    }

    private static func notes(_ database: Database) throws -> [Note] {
        try Note.order(Column("title"), Column("id")).fetchAll(database)
    }

    /// Returns the notes whose title, text or tags contain some words.
    package func search(_ words: String) async throws -> [Note] {
        try await notes().filter { note in
            let text = ([note.title, note.body] + note.tags).joined(separator: "\n")
            return words.split(separator: " ").allSatisfy { text.localizedStandardContains($0) }
        }
    }

    /// Returns the note whose title begins with a word, or whose key does.
    package func note(_ name: String) async throws -> Note? {
        let notes = try await notes()
        return notes.first { $0.title.split(separator: " ").first.map(String.init) == name }
            ?? notes.first { $0.id.hasPrefix(name.uppercased()) }
    }

    package func note(id: Note.ID) async throws -> Note? {
        try await database.read { try Note.fetchOne($0, key: id) }
    }

    package func attachments(of note: Note) async throws -> [Attachment] {
        try await database.read { database in
            try Attachment.filter(Column("note") == note.id).order(Column("name"))
                .fetchAll(database)
        }
    }

    /// Returns the attachment with a name, whichever note it belongs to.
    package func attachment(_ name: String) async throws -> Attachment? {
        try await database.read { try Attachment.filter(Column("name") == name).fetchOne($0) }
    }

    // MARK: Writing

    /// Adds a note, or updates the columns that differ in the one with the same key.
    package func save(_ note: Note) async throws {
        try await database.write { database in
            guard let old = try Note.fetchOne(database, key: note.id) else {
                return try note.insert(database)
            }
            try note.updateChanges(database, from: old)
        }
    }

    package func delete(_ note: Note) async throws {
        _ = try await database.write { try note.delete($0) }
    }

    package func attach(_ data: Data, named name: String, to note: Note) async throws {
        try await database.write { database in
            try Attachment(note: note.id, name: name, data: data).insert(database)
        }
    }
}
