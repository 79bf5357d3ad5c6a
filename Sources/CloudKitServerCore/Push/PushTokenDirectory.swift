import CloudKitBasics

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The directory of tokens for notifications, by the hash of their secret and by their user.
struct PushTokenDirectory {
    private static let tokens = "pushToken"

    private static func name(_ hash: Data) -> String { Hexadecimal.text(hash) }

    private static func collection(_ environment: Int64, _ user: Int64) -> String {
        "pushToken/\(environment)/\(user)"
    }

    /// Returns the token with a hash, unless it has expired.
    func token(_ hash: Data, now: Int64, _ reader: any StorageReader) throws -> PushToken? {
        let token = try reader.document(Self.tokens, Self.name(hash)).flatMap {
            // A damaged token is invalid, and its device requests another one.
            try? JSONDecoder().decode(PushToken.self, from: $0)
        }
        return token.flatMap { $0.expires > now ? $0 : nil }
    }

    /// Returns the tokens that receive a user's notifications, by the hash of their secret.
    func tokens(
        of user: RowID<StoredUser>,
        in environment: RowID<StoredEnvironment>,
        now: Int64,
        _ reader: any StorageReader
    ) throws -> [(hash: Data, token: PushToken)] {
        let registered = try reader.documents(
            Self.collection(environment.rawValue, user.rawValue)
        )
        try reader.prepare { _ in
            var needs = StorageNeeds()
            for document in registered {
                needs.documents.insert(DocumentKey(Self.tokens, Self.name(document.body)))
            }
            return needs
        }
        return try registered.compactMap {
            guard let token = try token($0.body, now: now, reader) else { return nil }
            return ($0.body, token)
        }
    }

    /// Registers a token for a user's notifications, in place of the previous user's.
    func register(
        _ hash: Data,
        _ registration: PushToken.Registration,
        now: Int64,
        _ writer: any StorageWriter
    ) throws {
        var token = try token(hash, now: now, writer) ?? PushToken(expires: 0)
        let former = token.registrations.first { $0.environment == registration.environment }
        token.registrations.removeAll { $0.environment == registration.environment }
        token.registrations.append(registration)
        token.expires = now + PushToken.life
        let collection = Self.collection(registration.environment, registration.user)
        try makeRoom(in: collection, besides: hash, now: now, writer)
        try save(token, hash, writer)
        try writer.putDocument(collection, StoredDocument(name: Self.name(hash), body: hash))
        guard let former, former.user != registration.user else { return }
        try writer.removeDocument(
            Self.collection(former.environment, former.user),
            Self.name(hash)
        )
        // The waiting items must not be seen by another user. From the new row of the token on nobody
        // adds more of them.
        try writer.removePushes(hash, keepingNewest: 0)
    }

    /// Removes the registrations of a user, and what waits for them.
    func removeTokens(
        of user: RowID<StoredUser>,
        in environment: RowID<StoredEnvironment>,
        _ writer: any StorageWriter
    ) throws {
        let collection = Self.collection(environment.rawValue, user.rawValue)
        for document in try writer.documents(collection) {
            try remove(document.body, from: collection, writer)
        }
    }

    /// Writes a token's row.
    func save(_ token: PushToken, _ hash: Data, _ writer: any StorageWriter) throws {
        let body = try JSONEncoder().encode(token)
        try writer.putDocument(Self.tokens, StoredDocument(name: Self.name(hash), body: body))
    }

    /// Requires that a token still belongs to the same users when the commit is kept.
    func requireUnchanged(_ hash: Data, _ writer: any StorageWriter) throws {
        try writer.requireUnchanged(Self.tokens, Self.name(hash))
    }

    /// Removes a user's expired tokens, and the oldest if there are too many.
    private func makeRoom(
        in collection: String,
        besides kept: Data,
        now: Int64,
        _ writer: any StorageWriter
    ) throws {
        var living: [(hash: Data, expires: Int64)] = []
        for document in try writer.documents(collection) where document.body != kept {
            if let token = try token(document.body, now: now, writer) {
                living.append((document.body, token.expires))
            } else {
                try remove(document.body, from: collection, writer)
            }
        }
        living.sort { $0.expires < $1.expires }
        for old in living.dropLast(PushToken.countLimit - 1) {
            try remove(old.hash, from: collection, writer)
        }
    }

    private func remove(
        _ hash: Data,
        from collection: String,
        _ writer: any StorageWriter
    ) throws {
        try writer.removeDocument(collection, Self.name(hash))
        try writer.removeDocument(Self.tokens, Self.name(hash))
        try writer.removePushes(hash, keepingNewest: 0)
    }
}
