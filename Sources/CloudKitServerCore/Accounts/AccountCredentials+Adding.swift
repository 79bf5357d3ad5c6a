import CloudKitBasics
import CloudKitWire
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension AccountCredentials {
    /// Adds an API token with a random text, and its container if it is new.
    func addAPIToken(
        to container: String,
        _ environment: ServiceEnvironment
    ) async throws -> String {
        let token = Hexadecimal.text(context.randomness.bytes(32))
        try await addAPIToken(token, to: container, environment)
        return token
    }

    /// Adds an API token with a given text, and its container if it is new.
    func addAPIToken(
        _ token: String,
        to container: String,
        _ environment: ServiceEnvironment
    ) async throws {
        let incarnation = context.randomness.identifier()
        try await context.storage.write { writer in
            let directory = ContainerDirectory(container)
            try directory.add(incarnation: incarnation, writer)
            let row = try directory.environment(environment, writer)
            try writer.putCredential(
                StoredCredential(
                    kind: .apiToken,
                    hash: SecretHash.of(token),
                    environment: row.id
                )
            )
        }
    }

    /// Creates a web auth token, with which a client acts for a user.
    func addWebAuthToken(
        for user: ServiceUser,
        apiToken: String,
        _ environment: ServiceEnvironment
    ) async throws -> String {
        let session = newSession(apiToken: apiToken, environment)
        let scope = WriteScope.credential(session.token.hash)
        try await context.storage.write(scope, needing: StorageNeeds.none) { writer in
            let user = try ContainerDirectory(user.container).user(user.userRecordName, writer)
            try session.add(for: user, writer)
        }
        return session.token.text(try await context.seal())
    }

    /// Returns a session that is not stored yet.
    func newSession(apiToken: String, _ environment: ServiceEnvironment) -> NewSession {
        NewSession(
            token: WebToken(
                secret: context.randomness.bytes(24),
                nonce: context.randomness.identifier()
            ),
            apiToken: SecretHash.of(apiToken),
            environment: environment,
            expires: context.clock.milliseconds + context.configuration.webTokenSeconds * 1000
        )
    }

    /// Adds a server-to-server key, with which a program signs its requests.
    func addServerKey(
        publicKey: String,
        to container: String,
        _ kind: ServiceEnvironment
    ) async throws -> String {
        // The error below says what a key must be.
        guard let key = try? P256.Signing.PublicKey(pemRepresentation: publicKey) else {
            throw RequestError(
                .badRequest,
                reason: "The key is not the public half of a P-256 key as PEM; create one with "
                    + "openssl ec -in eckey.pem -pubout"
            )
        }
        let incarnation = context.randomness.identifier()
        try await context.storage.write { writer in
            try ContainerDirectory(container).add(incarnation: incarnation, writer)
        }
        let keyID = Hexadecimal.text(context.randomness.bytes(32))
        let name = "_" + Hexadecimal.text(context.randomness.bytes(16))
        try await context.storage.write { writer in
            let environment = try ContainerDirectory(container).environment(kind, writer)
            // Records that the key creates belong to the key's own user.
            let user = try writer.addUser(
                StoredUser(id: RowID(rawValue: 0), container: container, recordName: name)
            )
            try writer.putCredential(
                StoredCredential(
                    kind: .serverKey,
                    hash: SecretHash.of(keyID),
                    environment: environment.id,
                    user: user.id,
                    companion: key.x963Representation
                )
            )
        }
        return keyID
    }
}

/// A session that a commit adds.
struct NewSession: Sendable {
    let token: WebToken
    /// The hash of the API token that the client uses with it.
    let apiToken: Data
    /// The environment of the API token.
    let environment: ServiceEnvironment
    let expires: Int64

    /// Adds the session of a user.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for an API token of another container.
    func add(for user: StoredUser, _ writer: any StorageWriter) throws {
        let row = try ContainerDirectory(user.container).environment(environment, writer)
        guard let companion = try writer.credential(.apiToken, hash: apiToken),
            companion.environment == row.id
        else {
            throw RequestError(
                .notFound,
                reason: "The API token is not one of \(user.container), "
                    + "\(environment.rawValue); create one first"
            )
        }
        try writer.putCredential(
            StoredCredential(
                kind: .webToken,
                hash: token.hash,
                environment: row.id,
                user: user.id,
                companion: apiToken,
                // Without its API token a session is of no use.
                expires: min(expires, companion.expires ?? .max)
            )
        )
    }
}
