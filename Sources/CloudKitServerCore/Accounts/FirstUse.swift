import CloudKitBasics
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The creation of containers and users by the first request that names them, if the configuration
/// allows it.
struct FirstUse: Sendable {
    let context: ServiceContext

    /// Creates the container and the user of a request, as far as the request is allowed to.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` for a name that no container can have.
    func makeMissing(_ credentials: Credentials, _ path: ServicePath) async throws {
        let opensContainers = context.configuration.opensContainers
        let isComplete = try await context.storage.read { reader in
            try Self.missing(credentials, path, opensContainers, reader) == .nothing
        }
        if isComplete { return }
        let incarnation = context.randomness.identifier()
        let recordName = "_" + Hexadecimal.text(context.randomness.bytes(16))
        try await context.storage.write { writer in
            // Another request may have been first.
            if try Self.missing(credentials, path, opensContainers, writer) == .container {
                try ContainerDirectory(path.container).add(incarnation: incarnation, writer)
            }
            guard
                case .user(var user) = try Self.missing(credentials, path, opensContainers, writer)
            else { return }
            if user.recordName.isEmpty { user.recordName = recordName }
            _ = try ContainerDirectory(user.container)
                .addUser(user, incarnation: incarnation, writer)
        }
    }

    /// An object that a request needs and that does not exist.
    private enum Missing: Equatable {
        case nothing
        case container
        case user(StoredUser)
    }

    private static func missing(
        _ credentials: Credentials,
        _ path: ServicePath,
        _ opensContainers: Bool,
        _ reader: any StorageReader
    ) throws -> Missing {
        // Only a request that could be authenticated creates anything.
        guard let apiToken = credentials.apiToken,
            let token = try reader.credential(.apiToken, hash: SecretHash.of(apiToken)),
            let home = try reader.environment(token.environment), home.kind == path.environment
        else { return .nothing }
        if try reader.environment(container: path.container, path.environment) == nil {
            return opensContainers ? .container : .nothing
        }
        guard opensContainers || home.container == path.container else { return .nothing }
        if let name = credentials.userName {
            let users = try reader.users(container: path.container)
            if users.contains(where: { $0.fullName == name }) { return .nothing }
            return .user(StoredUser(container: path.container, fullName: name))
        }
        guard let webToken = credentials.webToken,
            let row = try reader.credential(.webToken, hash: webToken.hash),
            var user = try row.user.flatMap({ try reader.user($0) }),
            user.container != path.container,
            try reader.user(container: path.container, recordName: user.recordName) == nil
        else { return .nothing }
        user.container = path.container
        return .user(user)
    }
}
