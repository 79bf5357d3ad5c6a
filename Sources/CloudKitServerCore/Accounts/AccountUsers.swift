import CloudKitBasics
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The users of containers.
struct AccountUsers: Sendable {
    let context: ServiceContext

    /// Returns the users of a container, in the order in which they were added.
    func all(in container: String) async throws -> [ServiceUser] {
        try await context.storage.read { reader in
            try reader.users(container: container).sorted { $0.id.rawValue < $1.id.rawValue }
                .map(ServiceUser.init)
        }
    }

    /// Creates a user with a private database in both environments, and the container if it is new;
    /// with a session, if one is given, or not at all.
    func add(
        to container: String,
        name: String,
        emailAddress: String?,
        password: String? = nil,
        session: NewSession? = nil
    ) async throws -> ServiceUser {
        try Self.checkName(name)
        if let emailAddress { try Self.checkEmailAddress(emailAddress) }
        var user = StoredUser(container: container, fullName: name)
        user.recordName = "_" + Hexadecimal.text(context.randomness.bytes(16))
        user.emailAddress = emailAddress?.lowercased()
        let added = user
        let incarnation = context.randomness.identifier()
        var hash: Data?
        if let password { hash = try await AccountPasswords(context: context).hashed(password) }
        let hashed = hash
        return try await context.storage.write { writer in
            let directory = ContainerDirectory(container)
            try directory.add(incarnation: incarnation, writer)
            if let address = added.emailAddress,
                let other = try writer.users(container: container)
                    .first(where: { $0.emailAddress == address })
            {
                throw RequestError(
                    .exists,
                    reason: "\(address) is already the address of \(other.recordName); give another"
                )
            }
            let row = try directory.addUser(added, incarnation: incarnation, writer)
            let user = ServiceUser(row)
            if let hashed { try AccountPasswords.put(hashed, of: user, writer) }
            try session?.add(for: row, writer)
            return user
        }
    }

    /// Checks that a text can be a user's name.
    static func checkName(_ text: String) throws(RequestError) {
        guard let reason = NameRules.label(text, "The user's name") else { return }
        throw RequestError(.badRequest, reason: reason)
    }

    /// Checks that a text has the form of an e-mail address.
    static func checkEmailAddress(_ text: String) throws(RequestError) {
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

    /// Returns the number of bytes that a user's records and assets take.
    func bytesUsed(by user: ServiceUser, environment: ServiceEnvironment) async throws -> Int64 {
        try await context.storage.read { reader in
            let directory = ContainerDirectory(user.container)
            let row = try directory.environment(environment, reader)
            let found = try directory.user(user.userRecordName, reader)
            guard let database = try reader.database(row.id, owner: found.id) else { return 0 }
            return try reader.zones(database.id).reduce(0) { $0 + $1.bytes }
        }
    }
}
