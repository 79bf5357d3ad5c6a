import CloudKitBasics
public import CloudKitWire
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// Returns the container of an API token; nil for an unknown token.
    package func container(ofAPIToken apiToken: String) async throws -> String? {
        try await storage.read { try Self.environment(of: apiToken, $0)?.container }
    }

    static func environment(
        of apiToken: String,
        _ reader: any StorageReader
    ) throws -> StoredEnvironment? {
        try reader.credential(.apiToken, hash: SecretHash.of(apiToken))
            .flatMap { try reader.environment($0.environment) }
    }

    /// Adds a server-to-server key, with which a program signs its requests.
    ///
    /// - Parameters:
    ///   - publicKey: The public half of a P-256 key, as PEM.
    ///   - container: The container's identifier; a new container is created.
    ///   - kind: The environment.
    /// - Returns: The key's identifier, 64 hexadecimal digits.
    /// - Throws: `RequestError` with `BAD_REQUEST` for anything except a public P-256 key.
    public func addServerKey(
        publicKey: String,
        container: String,
        environment kind: ServiceEnvironment
    ) async throws -> String {
        // The error below says what a key must be.
        guard let key = try? P256.Signing.PublicKey(pemRepresentation: publicKey) else {
            throw RequestError(
                .badRequest,
                reason: "The key is not the public half of a P-256 key as PEM; create one with "
                    + "openssl ec -in eckey.pem -pubout"
            )
        }
        try await addContainer(container)
        let keyID = Hexadecimal.text(randomness.bytes(32))
        let name = "_" + Hexadecimal.text(randomness.bytes(16))
        try await storage.write { writer in
            let environment = try Self.environment(container, kind, writer)
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
