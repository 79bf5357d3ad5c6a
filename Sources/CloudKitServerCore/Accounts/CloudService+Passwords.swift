import CloudKitWire
import Dispatch

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a try to sign in ended.
package enum SignInOutcome: Hashable, Sendable {
    /// It is the user; the web auth token is the session's first.
    case signedIn(webAuthToken: String)
    /// The name, the password or both are wrong, or the user has no password.
    case refused
    /// Too many tries failed for the name or from the address.
    case limited(seconds: Int)
    /// The API token is unknown.
    case unknownApp
}

// People who sign in with a name and a password.
extension CloudService {
    /// Characters of a password at least.
    public static let leastPasswordCharacters = 8
    /// UTF-8 bytes of a password at most; more would only be work.
    private static let mostPasswordBytes = 1024
    /// UTF-8 bytes of a name that is looked for.
    private static let mostNameBytes = 1024

    /// Gives a user a password, or takes it away; sessions that have begun go on.
    ///
    /// What is stored is a hash by scrypt with a salt of its own. A user without a password signs in
    /// on the server's own machine only.
    ///
    /// - Parameters:
    ///   - password: The password, of 8 characters or more; nil for none.
    ///   - user: The user.
    /// - Throws: `RequestError` with `BAD_REQUEST` for a password that is too short or too long, and
    ///   with `EXISTS` where another user of the same name has one.
    public func setPassword(_ password: String?, of user: ServiceUser) async throws {
        guard let password else {
            return try await storage.write { writer in
                try writer.removeDocument(Self.passwords(user.container), user.userRecordName)
            }
        }
        try Self.checkPassword(password)
        let hash = try await Self.hashing { [configuration, randomness] in
            try PasswordHash(
                password,
                salt: randomness.bytes(16),
                cost: configuration.passwordCost
            )
        }
        let body = try JSONEncoder().encode(hash)
        try await storage.write { writer in
            let namesakes = try Self.users(called: user.fullName, user.container, writer)
            for other in namesakes where other.recordName != user.userRecordName {
                let collection = Self.passwords(user.container)
                guard try writer.document(collection, other.recordName) == nil else {
                    throw RequestError(
                        .exists,
                        reason: "Another user called \(user.fullName) signs in with a password; "
                            + "give this one another name"
                    )
                }
            }
            try writer.putDocument(
                Self.passwords(user.container),
                StoredDocument(name: user.userRecordName, body: body)
            )
        }
    }

    /// Refuses what no user can have as a password.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST`.
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

    /// The users without a password, whom the page of a server's own machine offers; nil for an
    /// unknown token.
    package func signInChoices(apiToken: String) async throws -> [ServiceUser]? {
        try await storage.read { reader in
            guard let environment = try Self.environment(of: apiToken, reader) else { return nil }
            let container = environment.container
            let withPassword = Set(
                try reader.documents(Self.passwords(container)).map(\.name)
            )
            // A server-to-server key has a user of its own, who has no name and is nobody.
            return try reader.users(container: container)
                .filter { !withPassword.contains($0.recordName) }
                .filter { $0.givenName != nil || $0.emailAddress != nil }
                .map(ServiceUser.init)
        }
    }

    /// Signs a user without a password in, for the clients of an API token; nil when either is
    /// unknown or the user has a password.
    package func signIn(apiToken: String, userRecordName: String) async throws -> String? {
        let choices = try await signInChoices(apiToken: apiToken)
        guard let user = choices?.first(where: { $0.userRecordName == userRecordName }) else {
            return nil
        }
        return try await token(for: user, apiToken)
    }

    /// The seconds for which nobody signs in with a password from an address; nil when somebody may.
    package func signInWait(address: String) -> Int? {
        signInTries.wait(address: address, clock.milliseconds)
    }

    /// Signs a user in for the clients of an API token.
    ///
    /// - Parameters:
    ///   - apiToken: The API token.
    ///   - name: The user's full name, e-mail address or record name.
    ///   - password: What was typed.
    ///   - address: Where the try comes from; tries that fail are counted for it and for the name.
    /// - Returns: How it ended.
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
        // Counted before the work is done, so that tries at the same time are counted too.
        if let seconds = signInTries.take(account: account, address: address, clock.milliseconds) {
            return .limited(seconds: seconds)
        }
        let isRight = try await Self.hashing { [configuration, randomness] in
            guard let hash = found?.password, password.utf8.count <= Self.mostPasswordBytes else {
                // As long as for a user who is there, so that the time does not tell who is.
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

    /// A name as it is compared and counted, whoever has it: else counts would tell whose is known.
    ///
    /// What is too long for a name is cut: it would be compared with every user's, and kept for a while.
    private static func plain(_ name: String) -> String {
        String(decoding: name.utf8.prefix(mostNameBytes), as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The user with a password whom a person means; one of the address counts before one of the name.
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

    /// The collection of a container's passwords; no reset and no snapshot touches it.
    private static func passwords(_ container: String) -> String { "passwords/" + container }

    /// One at a time: each takes a quarter of a second and 32 MiB.
    private static let hashingQueue = DispatchQueue(label: "cloudkit.passwords")

    /// Runs work of this kind away from the threads that answer requests.
    private static func hashing<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            hashingQueue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}

extension ServiceUser {
    /// Given and family name.
    package var fullName: String {
        [givenName, familyName].compactMap(\.self).joined(separator: " ")
    }
}
