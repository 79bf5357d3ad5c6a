import CloudKitWire
import Dispatch

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The passwords of users, of which the storage keeps hashes.
struct AccountPasswords: Sendable {
    let context: ServiceContext

    /// The minimum number of characters of a password.
    static let leastCharacters = 8
    /// The maximum number of UTF-8 bytes of a password; longer ones would only cost time.
    static let mostBytes = 1024

    /// Sets or removes a user's password; existing sessions continue.
    func set(_ password: String?, of user: ServiceUser) async throws {
        guard let password else {
            return try await context.storage.write { writer in
                try writer.removeDocument(Self.collection(user.container), user.userRecordName)
            }
        }
        let hash = try await hashed(password)
        try await context.storage.write { try Self.put(hash, of: user, $0) }
    }

    /// Returns the hash of a new password, as it is stored.
    func hashed(_ password: String) async throws -> Data {
        try Self.check(password)
        let hash = try await Self.hashing {
            try PasswordHash(
                password,
                salt: context.randomness.bytes(16),
                cost: context.configuration.passwordCost
            )
        }
        return try JSONEncoder().encode(hash)
    }

    /// Stores the hash of a password, unless another user with the same name has one.
    static func put(
        _ hash: Data,
        of user: ServiceUser,
        _ writer: any StorageWriter
    ) throws {
        let collection = Self.collection(user.container)
        let namesakes = try users(called: user.fullName, user.container, writer)
        for other in namesakes where other.recordName != user.userRecordName {
            guard try writer.document(collection, other.recordName) == nil else {
                throw RequestError(
                    .exists,
                    reason: "Another user called \(user.fullName) signs in with a password; "
                        + "give this one another name"
                )
            }
        }
        try writer.putDocument(
            collection,
            StoredDocument(name: user.userRecordName, body: hash)
        )
    }

    /// Returns the record names of a container's users who have a password.
    func users(in container: String) async throws -> Set<String> {
        try await context.storage.read { reader in
            Set(try reader.documents(Self.collection(container)).map(\.name))
        }
    }

    /// Checks that a text can be a password.
    static func check(_ password: String) throws {
        guard password.count >= leastCharacters,
            password.utf8.count <= mostBytes
        else {
            throw RequestError(
                .badRequest,
                reason: "A password has \(leastCharacters) characters or more, and "
                    + "\(mostBytes) bytes at most"
            )
        }
    }

    private static func users(
        called name: String,
        _ container: String,
        _ reader: any StorageReader
    ) throws -> [StoredUser] {
        try reader.users(container: container).filter { isSame($0.fullName, name) }
    }

    /// Returns whether two names are the same to someone who signs in.
    static func isSame(_ first: String, _ second: String) -> Bool {
        first.lowercased() == second.lowercased()
    }

    /// Returns the collection of a container's passwords, which resets and snapshots leave unchanged.
    static func collection(_ container: String) -> String { "passwords/" + container }

    /// Hashes one password at a time because each takes a quarter of a second and 32 MiB.
    private static let hashingQueue = DispatchQueue(label: "cloudkit.passwords")

    /// Runs hashing work on a queue, away from the threads that serve requests.
    static func hashing<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            hashingQueue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}
