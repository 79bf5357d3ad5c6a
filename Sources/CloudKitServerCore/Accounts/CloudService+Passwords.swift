import CloudKitWire
import Dispatch

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The result of an attempt to sign in.
package enum SignInOutcome: Hashable, Sendable {
    /// The user is signed in; the web auth token is the session's first.
    case signedIn(webAuthToken: String)
    /// The name, the password or both are wrong, or the user has no password.
    case refused
    /// Too many attempts have failed for the name or from the address.
    case limited(seconds: Int)
    /// The API token is unknown.
    case unknownApp
}

// Signing in with a name and a password.
extension CloudService {
    /// The minimum number of characters of a password.
    public static let leastPasswordCharacters = 8
    /// The maximum number of UTF-8 bytes of a password; longer ones would only cost time.
    private static let mostPasswordBytes = 1024
    /// The number of UTF-8 bytes of a name that are compared.
    private static let mostNameBytes = 1024

    /// Sets or removes a user's password; existing sessions continue.
    ///
    /// The storage keeps a scrypt hash with its own salt. A user without a password can sign in on
    /// the server's own machine only.
    ///
    /// - Parameters:
    ///   - password: The password, of 8 characters or more; `nil` removes it.
    ///   - user: The user.
    /// - Throws: `RequestError` with `BAD_REQUEST` for a password that is too short or too long,
    ///   and with `EXISTS` if another user with the same name has a password.
    public func setPassword(_ password: String?, of user: ServiceUser) async throws {
        guard let password else {
            return try await storage.write { writer in
                try writer.removeDocument(Self.passwords(user.container), user.userRecordName)
            }
        }
        let hash = try await hashed(password)
        try await storage.write { try Self.putPassword(hash, of: user, $0) }
    }

    /// Returns the hash of a new password, as it is stored.
    func hashed(_ password: String) async throws -> Data {
        try Self.checkPassword(password)
        let hash = try await Self.hashing { [configuration, randomness] in
            try PasswordHash(
                password,
                salt: randomness.bytes(16),
                cost: configuration.passwordCost
            )
        }
        return try JSONEncoder().encode(hash)
    }

    /// Stores the hash of a password, unless another user with the same name has one.
    static func putPassword(
        _ hash: Data,
        of user: ServiceUser,
        _ writer: any StorageWriter
    ) throws {
        let collection = passwords(user.container)
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
    public func usersWithPassword(container: String) async throws -> Set<String> {
        try await storage.read { reader in
            Set(try reader.documents(Self.passwords(container)).map(\.name))
        }
    }

    /// Checks that a text can be a password.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` if it cannot.
    public static func checkPassword(_ password: String) throws {
        guard password.count >= leastPasswordCharacters,
            password.utf8.count <= mostPasswordBytes
        else {
            throw RequestError(
                .badRequest,
                reason: "A password has \(leastPasswordCharacters) characters or more, and "
                    + "\(mostPasswordBytes) bytes at most"
            )
        }
    }

    /// Returns the users without a password, whom the sign-in page lists on the server's own
    /// machine; nil for an unknown token.
    package func signInChoices(apiToken: String) async throws -> [ServiceUser]? {
        try await storage.read { reader in
            guard let environment = try Self.environment(of: apiToken, reader) else { return nil }
            let container = environment.container
            let withPassword = Set(
                try reader.documents(Self.passwords(container)).map(\.name)
            )
            // The user of a server-to-server key has no name and stands for no person.
            return try reader.users(container: container)
                .filter { !withPassword.contains($0.recordName) }
                .filter { $0.givenName != nil || $0.emailAddress != nil }
                .map(ServiceUser.init)
        }
    }

    /// Signs in a user without a password, for the clients of an API token.
    ///
    /// Returns nil if either is unknown or the user has a password.
    package func signIn(apiToken: String, userRecordName: String) async throws -> String? {
        let choices = try await signInChoices(apiToken: apiToken)
        guard let user = choices?.first(where: { $0.userRecordName == userRecordName }) else {
            return nil
        }
        return try await token(for: user, apiToken)
    }

    /// Returns the number of seconds for which sign-ins with a password are refused from an
    /// address; nil if they are not.
    package func signInWait(address: String) -> Int? {
        signInTries.wait(address: address, clock.milliseconds)
    }

    /// Signs in a user for the clients of an API token.
    ///
    /// - Parameters:
    ///   - apiToken: The API token.
    ///   - name: The user's full name, e-mail address or record name.
    ///   - password: The entered password.
    ///   - address: The origin of the attempt; failed attempts are counted for it and for the name.
    /// - Returns: The result of the attempt.
    /// - Throws: `StorageError`.
    package func signIn(
        apiToken: String,
        name: String,
        password: String,
        address: String
    ) async throws -> SignInOutcome {
        let name = Self.plain(name)
        let found = try await storage.read { reader in
            try Self.environment(of: apiToken, reader).map { environment in
                try Self.account(name, environment.container, reader)
            }
        }
        guard let found else { return .unknownApp }
        let account = found?.user.userRecordName ?? name.lowercased()
        // Counted before the work is done, so that simultaneous attempts are counted too.
        if let seconds = signInTries.take(account: account, address: address, clock.milliseconds) {
            return .limited(seconds: seconds)
        }
        let isRight = try await Self.hashing { [configuration, randomness] in
            guard let hash = found?.password, password.utf8.count <= Self.mostPasswordBytes else {
                // This takes as long as for an existing user, so that the time does not reveal
                // which users exist.
                _ = try PasswordHash(
                    "",
                    salt: randomness.bytes(16),
                    cost: configuration.passwordCost
                )
                return false
            }
            return try hash.matches(password)
        }
        guard isRight, let user = found?.user else { return .refused }
        signInTries.forget(account: account, address: address)
        return .signedIn(webAuthToken: try await token(for: user, apiToken))
    }

    private func token(for user: ServiceUser, _ apiToken: String) async throws -> String {
        let environment = try await storage.read { try Self.environment(of: apiToken, $0) }
        return try await addWebAuthToken(
            user: user,
            apiToken: apiToken,
            environment: environment?.kind ?? .development
        )
    }

    /// Returns a name in the form in which it is compared and counted, whether or not a user has
    /// it: counts by user would reveal which names are known.
    ///
    /// A text that is too long for a name is cut because it would be compared with every user's
    /// name, and kept for a while.
    private static func plain(_ name: String) -> String {
        String(decoding: name.utf8.prefix(mostNameBytes), as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Returns the user with a password whom a text denotes; a match by address takes precedence
    /// over one by name.
    private static func account(
        _ name: String,
        _ container: String,
        _ reader: any StorageReader
    ) throws -> (user: ServiceUser, password: PasswordHash)? {
        let users = try reader.users(container: container)
        let candidates =
            users.filter { $0.recordName == name || $0.emailAddress == name.lowercased() }
            + users.filter { isSame($0.fullName, name) }
        for user in candidates {
            guard let document = try reader.document(passwords(container), user.recordName) else {
                continue
            }
            let hash = try JSONDecoder().decode(PasswordHash.self, from: document)
            return (ServiceUser(user), hash)
        }
        return nil
    }

    private static func users(
        called name: String,
        _ container: String,
        _ reader: any StorageReader
    ) throws -> [StoredUser] {
        try reader.users(container: container).filter { isSame($0.fullName, name) }
    }

    private static func isSame(_ first: String, _ second: String) -> Bool {
        first.lowercased() == second.lowercased()
    }

    /// Returns the collection of a container's passwords, which resets and snapshots leave unchanged.
    static func passwords(_ container: String) -> String { "passwords/" + container }

    /// Hashes one password at a time because each takes a quarter of a second and 32 MiB.
    private static let hashingQueue = DispatchQueue(label: "cloudkit.passwords")

    /// Runs hashing work on a queue, away from the threads that serve requests.
    private static func hashing<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            hashingQueue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}

extension ServiceUser {
    /// The given and the family name.
    package var fullName: String {
        [givenName, familyName].compactMap(\.self).joined(separator: " ")
    }
}
