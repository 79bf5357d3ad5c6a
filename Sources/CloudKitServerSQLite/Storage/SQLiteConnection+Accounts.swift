import CloudKitServerCore
import CloudKitWire
import GRDB

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SQLiteConnection {
    func setting(_ name: String) throws -> Data? {
        try first("SELECT value FROM setting WHERE name = ?", [name]) { $0[0] }
    }

    func setSetting(_ name: String, _ value: Data) throws {
        try run("INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", [name, value])
    }

    func environment(
        container: String,
        _ kind: ServiceEnvironment
    ) throws -> StoredEnvironment? {
        try first(
            Self.selectEnvironment + " WHERE container = ? AND kind = ?",
            [container, kind.rawValue],
            Self.environment
        )
    }

    func environment(_ id: RowID<StoredEnvironment>) throws -> StoredEnvironment? {
        try directory.environments.value(id) {
            try first(Self.selectEnvironment + " WHERE id = ?", [id.rawValue], Self.environment)
        }
    }

    func environments() throws -> [StoredEnvironment] { try environments(where: "1") }

    func environments(where condition: String) throws -> [StoredEnvironment] {
        try all(
            Self.selectEnvironment + " WHERE \(condition) ORDER BY container, kind",
            [],
            Self.environment
        )
    }

    func schema(_ id: RowID<StoredEnvironment>) throws -> Data? {
        try first("SELECT schema FROM environment WHERE id = ?", [id.rawValue]) { row -> Data? in
            row[0]
        } ?? nil
    }

    func addEnvironment(
        container: String,
        _ kind: ServiceEnvironment
    ) throws -> StoredEnvironment {
        let id = try insert(
            "INSERT INTO environment (container, kind, schemaVersion) VALUES (?, ?, 0)",
            [container, kind.rawValue]
        )
        return StoredEnvironment(
            id: RowID(rawValue: id),
            container: container,
            kind: kind,
            schemaVersion: 0
        )
    }

    func setSchema(_ id: RowID<StoredEnvironment>, version: Int64, _ schema: Data) throws {
        try run(
            "UPDATE environment SET schemaVersion = ?, schema = ? WHERE id = ?",
            [version, schema, id.rawValue]
        )
    }

    func credential(_ kind: StoredCredential.Kind, hash: Data) throws -> StoredCredential? {
        try first(
            Self.selectCredential + " WHERE kind = ? AND hash = ?",
            [kind.rawValue, hash],
            Self.credential
        )
    }

    func credentials(_ environment: RowID<StoredEnvironment>) throws -> [StoredCredential] {
        try all(
            Self.selectCredential + " WHERE environment = ? ORDER BY kind, hash",
            [environment.rawValue],
            Self.credential
        )
    }

    func putCredential(_ credential: StoredCredential) throws {
        try run(
            """
            INSERT OR REPLACE INTO credential (kind, hash, environment, user, companion, expires)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                credential.kind.rawValue, credential.hash, credential.environment.rawValue,
                credential.user?.rawValue, credential.companion, credential.expires,
            ]
        )
    }

    func removeCredential(_ kind: StoredCredential.Kind, hash: Data) throws {
        try run("DELETE FROM credential WHERE kind = ? AND hash = ?", [kind.rawValue, hash])
    }

    func removeCredentials(expiredBefore milliseconds: Int64) throws {
        try run("DELETE FROM credential WHERE expires < ?", [milliseconds])
    }

    func user(_ id: RowID<StoredUser>) throws -> StoredUser? {
        try directory.users.value(id) {
            try first(Self.selectUser + " WHERE id = ?", [id.rawValue], Self.user)
        }
    }

    func user(container: String, recordName: String) throws -> StoredUser? {
        try first(
            Self.selectUser + " WHERE container = ? AND recordName = ?",
            [container, recordName],
            Self.user
        )
    }

    func users(container: String) throws -> [StoredUser] {
        try all(
            Self.selectUser + " WHERE container = ? ORDER BY recordName",
            [container],
            Self.user
        )
    }

    func addUser(_ user: StoredUser) throws -> StoredUser {
        var user = user
        user.id = RowID(
            rawValue: try insert(
                """
                INSERT INTO user (container, recordName, givenName, familyName, emailAddress)
                VALUES (?, ?, ?, ?, ?)
                """,
                [
                    user.container, user.recordName, user.givenName, user.familyName,
                    user.emailAddress,
                ]
            )
        )
        return user
    }

    func removeUser(_ id: RowID<StoredUser>) throws {
        try run(
            """
            UPDATE user
            SET container = '', givenName = NULL, familyName = NULL, emailAddress = NULL
            WHERE id = ?
            """,
            [id.rawValue]
        )
    }

    func document(_ collection: String, _ name: String) throws -> Data? {
        try first(
            "SELECT body FROM document WHERE collection = ? AND name = ?",
            [collection, name]
        ) { $0[0] }
    }

    func documents(_ collection: String) throws -> [StoredDocument] {
        try directory.documents.value(collection) {
            try all(
                "SELECT name, body FROM document WHERE collection = ? ORDER BY name",
                [collection]
            ) { StoredDocument(name: $0[0], body: $0[1]) }
        }
    }

    func putDocument(_ collection: String, _ document: StoredDocument) throws {
        try run(
            "INSERT OR REPLACE INTO document (collection, name, body) VALUES (?, ?, ?)",
            [collection, document.name, document.body]
        )
    }

    func removeDocument(_ collection: String, _ name: String) throws {
        try run(
            "DELETE FROM document WHERE collection = ? AND name = ?",
            [collection, name]
        )
    }

    private static let selectEnvironment =
        "SELECT id, container, kind, schemaVersion FROM environment"

    private static func environment(_ row: Row) throws -> StoredEnvironment {
        guard let kind = ServiceEnvironment(rawValue: row[2]) else {
            throw StorageError(.corrupt, "An environment is of an unknown kind")
        }
        return StoredEnvironment(
            id: RowID(rawValue: row[0]),
            container: row[1],
            kind: kind,
            schemaVersion: row[3]
        )
    }

    private static let selectCredential =
        "SELECT kind, hash, environment, user, companion, expires FROM credential"

    private static func credential(_ row: Row) throws -> StoredCredential {
        guard let kind = StoredCredential.Kind(rawValue: row[0]) else {
            throw StorageError(.corrupt, "A credential is of an unknown kind")
        }
        return StoredCredential(
            kind: kind,
            hash: row[1],
            environment: RowID(rawValue: row[2]),
            user: (row[3] as Int64?).map(RowID.init(rawValue:)),
            companion: row[4],
            expires: row[5]
        )
    }

    private static let selectUser =
        "SELECT id, container, recordName, givenName, familyName, emailAddress FROM user"

    private static func user(_ row: Row) -> StoredUser {
        StoredUser(
            id: RowID(rawValue: row[0]),
            container: row[1],
            recordName: row[2],
            givenName: row[3],
            familyName: row[4],
            emailAddress: row[5]
        )
    }
}
