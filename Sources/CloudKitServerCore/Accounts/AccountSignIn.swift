import CloudKitWire

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

/// Signing in, with a name and a password or as one of the users without one.
struct AccountSignIn: Sendable {
    let context: ServiceContext
    private let tries = SignInTries()

    /// The number of UTF-8 bytes of a name that are compared.
    private static let mostNameBytes = 1024

    init(context: ServiceContext) { self.context = context }

    /// Returns the container of an API token; nil for an unknown token.
    func container(ofAPIToken apiToken: String) async throws -> String? {
        try await context.storage.read { try Self.environment(of: apiToken, $0)?.container }
    }

    private static func environment(
        of apiToken: String,
        _ reader: any StorageReader
    ) throws -> StoredEnvironment? {
        try reader.credential(.apiToken, hash: SecretHash.of(apiToken))
            .flatMap { try reader.environment($0.environment) }
    }

    /// Returns the users without a password, whom the sign-in page lists on the server's own
    /// machine; nil for an unknown token.
    func choices(apiToken: String) async throws -> [ServiceUser]? {
        try await context.storage.read { reader in
            guard let environment = try Self.environment(of: apiToken, reader) else { return nil }
            let container = environment.container
            let withPassword = Set(
                try reader.documents(AccountPasswords.collection(container)).map(\.name)
            )
            // The user of a server-to-server key has no name and stands for no person.
            return try reader.users(container: container)
                .filter { !withPassword.contains($0.recordName) }
                .filter { $0.givenName != nil || $0.emailAddress != nil }
                .map(ServiceUser.init)
        }
    }

    /// Signs in a user without a password, for the clients of an API token.
    func signIn(apiToken: String, userRecordName: String) async throws -> String? {
        let choices = try await choices(apiToken: apiToken)
        guard let user = choices?.first(where: { $0.userRecordName == userRecordName }) else {
            return nil
        }
        return try await token(for: user, apiToken)
    }

    /// Returns the number of seconds for which sign-ins with a password are refused from an
    /// address; nil if they are not.
    func wait(address: String) -> Int? {
        tries.wait(address: address, context.clock.milliseconds)
    }

    /// Signs in a user for the clients of an API token.
    func signIn(
        apiToken: String,
        name: String,
        password: String,
        address: String
    ) async throws -> SignInOutcome {
        let name = Self.plain(name)
        let found = try await context.storage.read { reader in
            try Self.environment(of: apiToken, reader).map { environment in
                try Self.account(name, environment.container, reader)
            }
        }
        guard let found else { return .unknownApp }
        let account = found?.user.userRecordName ?? name.lowercased()
        // Counted before the work is done, so that simultaneous attempts are counted too.
        if let seconds = tries.take(account: account, address: address, context.clock.milliseconds)
        {
            return .limited(seconds: seconds)
        }
        let isRight = try await AccountPasswords.hashing {
            guard let hash = found?.password, password.utf8.count <= AccountPasswords.mostBytes
            else {
                // This takes as long as for an existing user, so that the time does not reveal
                // which users exist.
                _ = try PasswordHash(
                    "",
                    salt: context.randomness.bytes(16),
                    cost: context.configuration.passwordCost
                )
                return false
            }
            return try hash.matches(password)
        }
        guard isRight, let user = found?.user else { return .refused }
        tries.forget(account: account, address: address)
        return .signedIn(webAuthToken: try await token(for: user, apiToken))
    }

    private func token(for user: ServiceUser, _ apiToken: String) async throws -> String {
        let environment = try await context.storage.read { try Self.environment(of: apiToken, $0) }
        return try await AccountCredentials(context: context).addWebAuthToken(
            for: user,
            apiToken: apiToken,
            environment?.kind ?? .development
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
            + users.filter { AccountPasswords.isSame($0.fullName, name) }
        for user in candidates {
            guard
                let document = try reader.document(
                    AccountPasswords.collection(container),
                    user.recordName
                )
            else {
                continue
            }
            let hash = try JSONDecoder().decode(PasswordHash.self, from: document)
            return (ServiceUser(user), hash)
        }
        return nil
    }
}
