import CloudKitBasics
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The credentials of containers: API tokens, sessions and server-to-server keys.
struct AccountCredentials: Sendable {
    let context: ServiceContext

    /// The least number of an identifier's digits that can name a credential.
    private static let leastDigits = 8

    /// Returns the credentials of a container, by environment, kind and identifier.
    func all(in container: String) async throws -> [ServiceCredential] {
        try await context.storage.read { reader in
            try Self.rows(of: container, reader).map { $0.credential }
        }
    }

    /// Returns the credentials of a container that a text denotes: a token, a key's identifier, or
    /// the first eight or more digits of a credential's identifier.
    func all(
        meantBy text: String,
        in container: String
    ) async throws -> [ServiceCredential] {
        let hashes = [SecretHash.of(text), WebToken(text, try await context.seal())?.hash]
        let ids = hashes.compactMap { hash in hash.map { Hexadecimal.text($0) } }
        let isBeginning = text.utf8.count >= Self.leastDigits
        return try await all(in: container).filter {
            ids.contains($0.id) || isBeginning && $0.id.hasPrefix(text.lowercased())
        }
    }

    /// Revokes credentials; requests with them are refused.
    func revoke(
        _ ids: Set<String>,
        in container: String
    ) async throws -> [ServiceCredential] {
        try await revoke(in: container) { credential in
            ids.contains(credential.id) || credential.apiToken.map(ids.contains) == true
        }
    }

    /// Ends all sessions of a user, in both environments.
    func endSessions(of user: ServiceUser) async throws -> [ServiceCredential] {
        try await revoke(in: user.container) { credential in
            credential.kind == .webToken && credential.userRecordName == user.userRecordName
        }
    }

    private func revoke(
        in container: String,
        where isMeant: @escaping @Sendable (ServiceCredential) -> Bool
    ) async throws -> [ServiceCredential] {
        try await context.changeCallers { writer in
            let meant = try Self.rows(of: container, writer).filter { isMeant($0.credential) }
            for (row, _) in meant { try writer.removeCredential(row.kind, hash: row.hash) }
            return meant.map { $0.credential }
        }
    }

    private static func rows(
        of container: String,
        _ reader: any StorageReader
    ) throws -> [(row: StoredCredential, credential: ServiceCredential)] {
        try ContainerDirectory(container).environments(reader).flatMap { environment in
            try reader.credentials(environment.id).map { row in
                let user = try row.user.flatMap { try reader.user($0) }
                return (row, ServiceCredential(row, environment.kind, user))
            }
        }
    }
}
