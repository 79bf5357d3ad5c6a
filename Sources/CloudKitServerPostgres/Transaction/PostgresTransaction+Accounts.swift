#if PostgreSQL
import CloudKitServerCore
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PostgresTransaction {
    func setting(_ name: String) throws -> Data? {
        if let known = cache.settings[name] { return known }
        let found = try all("SELECT value FROM setting WHERE name = $1", [.text(name)]) {
            $0.bytes(0)
        }.first
        cache.settings[name] = .some(found)
        return found
    }

    func setSetting(_ name: String, _ value: Data) throws {
        try requireEverything()
        state.changes.addApart(
            """
            INSERT INTO setting (name, value) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """,
            [.text(name), .bytes(value)]
        )
        cache.settings[name] = value
    }

    // MARK: Environments

    func environment(
        container: String,
        _ kind: ServiceEnvironment
    ) throws -> StoredEnvironment? {
        try all(
            Self.selectEnvironment + " WHERE container = $1 AND kind = $2",
            [.text(container), .text(kind.rawValue)],
            Self.environment
        ).first
    }

    func environment(_ id: RowID<StoredEnvironment>) throws -> StoredEnvironment? {
        if let known = cache.environments[id] { return known }
        var needs = StorageNeeds()
        needs.environments.insert(id)
        try read(needs)
        return cache.environments[id] ?? nil
    }

    func environments() throws -> [StoredEnvironment] {
        try all(Self.selectEnvironment + " ORDER BY container, kind", [], Self.environment)
    }

    func schema(_ id: RowID<StoredEnvironment>) throws -> Data? {
        if let known = cache.schemas[id] { return known }
        let found =
            try all("SELECT schema FROM environment WHERE id = $1", [.int(id.rawValue)]) {
                $0.optionalBytes(0)
            }.first ?? nil
        cache.schemas[id] = .some(found)
        return found
    }

    func addEnvironment(
        container: String,
        _ kind: ServiceEnvironment
    ) throws -> StoredEnvironment {
        try requireEverything()
        let environment = StoredEnvironment(
            id: RowID(rawValue: try takeNumber()),
            container: container,
            kind: kind,
            schemaVersion: 0
        )
        state.changes.addApart(
            "INSERT INTO environment (id, container, kind, schema_version) VALUES ($1, $2, $3, 0)",
            [.int(environment.id.rawValue), .text(container), .text(kind.rawValue)]
        )
        cache.environments[environment.id] = environment
        cache.schemas[environment.id] = .some(nil)
        return environment
    }

    func setSchema(_ id: RowID<StoredEnvironment>, version: Int64, _ schema: Data) throws {
        try setSchema(id, version: version, bytes: schema)
    }

    func removeSchema(of environment: RowID<StoredEnvironment>) throws {
        try setSchema(environment, version: 0, bytes: nil)
    }

    private func setSchema(
        _ id: RowID<StoredEnvironment>,
        version: Int64,
        bytes: Data?
    ) throws {
        try requireEverything()
        state.changes.addApart(
            "UPDATE environment SET schema_version = $2, schema = $3 WHERE id = $1",
            [.int(id.rawValue), .int(version), .bytes(bytes)]
        )
        cache.schemas[id] = .some(bytes)
        if var known = cache.environments[id] ?? nil {
            known.schemaVersion = version
            cache.environments[id] = known
        }
    }

    // MARK: Credentials

    func credential(_ kind: StoredCredential.Kind, hash: Data) throws -> StoredCredential? {
        try all(
            Self.selectCredential + " WHERE kind = $1 AND hash = $2",
            [.int(kind.rawValue), .bytes(hash)],
            Self.credential
        ).first
    }

    func credentials(_ environment: RowID<StoredEnvironment>) throws -> [StoredCredential] {
        try all(
            Self.selectCredential + " WHERE environment = $1 ORDER BY kind, hash",
            [.int(environment.rawValue)],
            Self.credential
        )
    }

    func putCredential(_ credential: StoredCredential) throws {
        try requireReach(ofCredential: credential.hash)
        state.changes.addApart(
            """
            INSERT INTO credential (kind, hash, environment, account, companion, expires)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (kind, hash) DO UPDATE SET environment = excluded.environment,
                account = excluded.account, companion = excluded.companion,
                expires = excluded.expires
            """,
            [
                .int(credential.kind.rawValue), .bytes(credential.hash),
                .int(credential.environment.rawValue), .int(credential.user?.rawValue),
                .bytes(credential.companion), .int(credential.expires),
            ]
        )
    }

    func removeCredential(_ kind: StoredCredential.Kind, hash: Data) throws {
        try requireReach(ofCredential: hash)
        state.changes.addApart(
            "DELETE FROM credential WHERE kind = $1 AND hash = $2",
            [.int(kind.rawValue), .bytes(hash)]
        )
    }

    func announceChangedCallers() { state.news.concernsCallers = true }

    func removeCredentials(expiredBefore milliseconds: Int64) throws {
        try requireEverything()
        state.changes.addApart(
            "DELETE FROM credential WHERE expires < $1",
            [.int(milliseconds)]
        )
    }

    // MARK: Users

    func user(_ id: RowID<StoredUser>) throws -> StoredUser? {
        if let known = cache.users[id] { return known }
        var needs = StorageNeeds()
        needs.users.insert(id)
        try read(needs)
        return cache.users[id] ?? nil
    }

    func user(container: String, recordName: String) throws -> StoredUser? {
        try all(
            Self.selectUser + " WHERE container = $1 AND record_name = $2",
            [.text(container), .text(recordName)],
            Self.user
        ).first
    }

    func users(container: String) throws -> [StoredUser] {
        try all(
            Self.selectUser + " WHERE container = $1 ORDER BY record_name",
            [.text(container)],
            Self.user
        )
    }

    func addUser(_ user: StoredUser) throws -> StoredUser {
        try requireEverything()
        var user = user
        user.id = RowID(rawValue: try takeNumber())
        state.changes.addApart(
            """
            INSERT INTO account
                (id, container, record_name, given_name, family_name, email_address)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                .int(user.id.rawValue), .text(user.container), .text(user.recordName),
                .text(user.givenName), .text(user.familyName), .text(user.emailAddress),
            ]
        )
        cache.users[user.id] = user
        return user
    }

    func removeUser(_ id: RowID<StoredUser>) throws {
        try requireEverything()
        state.changes.addApart(
            """
            UPDATE account
            SET container = '', given_name = NULL, family_name = NULL, email_address = NULL
            WHERE id = $1
            """,
            [.int(id.rawValue)]
        )
        cache.users[id] = nil
    }
}
#endif
