import CloudKitBasics
public import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Functions for operators and tests; none of them is available over the service's own protocol.
extension CloudService {
    /// Creates a container with both environments, unless it exists.
    public func addContainer(_ container: String) async throws {
        let incarnation = randomness.identifier()
        try await storage.write { writer in
            try Self.addContainer(container, incarnation: incarnation, writer)
        }
    }

    /// Returns the identifiers of all containers, in order.
    public func containers() async throws -> [String] {
        try await storage.read { reader in
            Set(try reader.environments().map(\.container)).sorted()
        }
    }

    /// Creates an API token, and its container if it is new.
    ///
    /// - Returns: The token, 64 hexadecimal digits. The storage keeps only a hash, so it cannot be
    ///   read again.
    public func addAPIToken(
        container: String,
        environment: ServiceEnvironment
    ) async throws -> String {
        let token = Hexadecimal.text(randomness.bytes(32))
        try await addAPIToken(token, container: container, environment: environment)
        return token
    }

    /// Adds an API token with a given text, and its container if it is new.
    ///
    /// This is meant for development, where a token in a script should work with a new server too.
    public func addAPIToken(
        _ token: String,
        container: String,
        environment: ServiceEnvironment
    ) async throws {
        let incarnation = randomness.identifier()
        try await storage.write { writer in
            try Self.addContainer(container, incarnation: incarnation, writer)
            let row = try Self.environment(container, environment, writer)
            try writer.putCredential(
                StoredCredential(
                    kind: .apiToken,
                    hash: SecretHash.of(token),
                    environment: row.id
                )
            )
        }
    }

    /// Creates a user with a private database in both environments, and the container if it is new.
    ///
    /// - Parameters:
    ///   - container: The container's identifier.
    ///   - name: The user's given name, or a given and a family name.
    ///   - emailAddress: The address by which others find the user.
    ///   - password: The password, of 8 characters or more; `nil` for none.
    /// - Returns: The user with its record name.
    /// - Throws: `RequestError` with `BAD_REQUEST` for an invalid address or password, and with
    ///   `EXISTS` if another user has the address, or the same name and a password; no user is
    ///   created then.
    public func addUser(
        container: String,
        name: String,
        emailAddress: String? = nil,
        password: String? = nil
    ) async throws -> ServiceUser {
        if let emailAddress { try Self.checkEmailAddress(emailAddress) }
        var user = StoredUser(container: container, fullName: name)
        user.recordName = "_" + Hexadecimal.text(randomness.bytes(16))
        user.emailAddress = emailAddress?.lowercased()
        let added = user
        let incarnation = randomness.identifier()
        var hash: Data?
        if let password { hash = try await hashed(password) }
        let hashed = hash
        return try await storage.write { writer in
            try Self.addContainer(container, incarnation: incarnation, writer)
            if let address = added.emailAddress,
                let other = try writer.users(container: container)
                    .first(where: { $0.emailAddress == address })
            {
                throw RequestError(
                    .exists,
                    reason: "\(address) is already the address of \(other.recordName); give another"
                )
            }
            let user = ServiceUser(try Self.addUser(added, incarnation: incarnation, writer))
            if let hashed { try Self.putPassword(hashed, of: user, writer) }
            return user
        }
    }

    /// Checks that a text has the form of an e-mail address.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` if it does not.
    public static func checkEmailAddress(_ text: String) throws(RequestError) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), text.utf8.count <= 254,
            !text.unicodeScalars.contains(where: {
                $0.properties.isWhitespace || $0.properties.generalCategory == .control
            })
        else {
            throw RequestError(
                .badRequest,
                reason: "'\(text)' is not an e-mail address; one is grace@example.com"
            )
        }
    }

    /// Adds a user with its private databases; the argument's row ID is ignored.
    static func addUser(
        _ user: StoredUser,
        incarnation: Int64,
        _ writer: any StorageWriter
    ) throws -> StoredUser {
        try ContainerDirectory(user.container).addUser(user, incarnation: incarnation, writer)
    }

    /// Expires all change tokens of a container, so that its clients fetch everything again.
    ///
    /// This is necessary after a backup has been restored because clients may hold newer tokens
    /// and versions than the data. Change tags from before go on to be compared with those of the
    /// data, and no later version gets one of them.
    public func expireChangeTokens(container: String) async throws {
        let incarnation = randomness.identifier()
        let now = clock.milliseconds
        try await storage.write { writer in
            for kind in ServiceEnvironment.allCases {
                let environment = try Self.environment(container, kind, writer)
                try EnvironmentRestart(environment, now: now, writer).begin(incarnation, writer)
            }
        }
    }

    /// Returns the users of a container, in the order in which they were added.
    public func users(container: String) async throws -> [ServiceUser] {
        try await storage.read { reader in
            try reader.users(container: container).sorted { $0.id.rawValue < $1.id.rawValue }
                .map(ServiceUser.init)
        }
    }

    /// Creates a web auth token, with which a client acts for a user.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - apiToken: The API token that the client uses with it.
    ///   - environment: The environment of the API token.
    /// - Returns: The token; the storage keeps only a hash.
    /// - Throws: `RequestError` with `NOT_FOUND` for an API token or a user of another container.
    public func addWebAuthToken(
        user: ServiceUser,
        apiToken: String,
        environment: ServiceEnvironment
    ) async throws -> String {
        let token = WebToken(secret: randomness.bytes(24), nonce: randomness.identifier())
        let expires = clock.milliseconds + configuration.webTokenSeconds * 1000
        try await storage.write { writer in
            let row = try Self.environment(user.container, environment, writer)
            let companion = SecretHash.of(apiToken)
            let found = try writer.credential(.apiToken, hash: companion)
            guard found?.environment == row.id else {
                throw RequestError(
                    .notFound,
                    reason: "The API token is not one of \(user.container), "
                        + "\(environment.rawValue); create one first"
                )
            }
            guard
                let user = try writer.user(
                    container: user.container,
                    recordName: user.userRecordName
                )
            else {
                throw RequestError(.notFound, reason: "No user \(user.userRecordName)")
            }
            try writer.putCredential(
                StoredCredential(
                    kind: .webToken,
                    hash: token.hash,
                    environment: row.id,
                    user: user.id,
                    companion: companion,
                    expires: expires
                )
            )
        }
        return token.text(try await seal())
    }

    static func environment(
        _ container: String,
        _ kind: ServiceEnvironment,
        _ reader: any StorageReader
    ) throws -> StoredEnvironment {
        try ContainerDirectory(container).environment(kind, reader)
    }

    static func addContainer(
        _ container: String,
        incarnation: Int64,
        _ writer: any StorageWriter
    ) throws {
        try ContainerDirectory(container).add(incarnation: incarnation, writer)
    }
}
