import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoints of users: `users/…`.
struct UsersEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `users/caller`: returns the caller.
    func caller(_ call: Call) async throws -> Data {
        try WireJSON.encode(Self.identity(call.user()))
    }

    /// Handles `users/current`: returns the caller in the older format.
    func current(_ call: Call) async throws -> Data {
        try WireJSON.encode(UserDictionary(call.user()))
    }

    /// Handles `users/discover`: returns users by address or name, and leaves out those not found.
    func discover(_ call: Call) async throws -> Data {
        _ = try call.user()
        try Self.checkPublic(call)
        guard call.request.method == "POST" else {
            // Apple's service responds with 500 here; no part of ours has failed.
            throw RequestError(
                .badRequest,
                reason: "Listing all users is not supported; POST the lookupInfos to look for"
            )
        }
        let request = try call.message(DiscoverUsersRequest.self)
        try call.checkCount(request.lookupInfos.count, "lookupInfos")
        try call.work.check(
            names: request.lookupInfos.flatMap {
                [$0.userRecordName, $0.emailAddress, $0.phoneNumber]
            }
        )
        let users = try await context.read(call) { try $0.users(container: call.path.container) }
        let found = request.lookupInfos.compactMap { info in
            users.first { ParticipantIdentity(userRecordName: nil, lookupInfo: info).isOf($0) }
                .map { Self.identity($0, info) }
        }
        return try WireJSON.encode(DiscoverUsersResponse(users: found))
    }

    /// Handles `users/lookup/email` and `users/lookup/id`: returns users in the older format.
    func lookUp(_ call: Call) async throws -> Data {
        let caller = try call.user()
        try Self.checkPublic(call)
        let request = try call.message(LookupUsersRequest.self)
        try call.checkCount(request.users.count, "users")
        try call.work.check(names: request.users.flatMap { [$0.userRecordName, $0.emailAddress] })
        let users = try await context.read(call) { try $0.users(container: call.path.container) }
        let found = request.users.compactMap { info -> UserDictionary? in
            guard
                let user = users.first(where: {
                    ParticipantIdentity(userRecordName: nil, lookupInfo: info).isOf($0)
                })
            else { return nil }
            var found = UserDictionary(user)
            // An address is returned only to callers who already know it.
            let knows = info.emailAddress?.lowercased() == user.emailAddress
            if user.id != caller.id, !knows { found.emailAddress = nil }
            return found
        }
        return try WireJSON.encode(UserDictionaries(users: found))
    }

    /// Handles `users/lookup/contacts`: returns no users because a server has no address books.
    func lookUpContacts(_ call: Call) async throws -> Data {
        _ = try call.user()
        return try WireJSON.encode(UserDictionaries(users: []))
    }

    private static func checkPublic(_ call: Call) throws {
        guard call.caller.credential != .serverKey else {
            throw RequestError(
                .authenticationFailed,
                reason: "Authentication failed: a server-to-server key cannot look users up"
            )
        }
        guard call.path.database == .public else {
            throw RequestError(
                .badRequest,
                reason: "endpoint not applicable in the database type "
                    + "'\(call.path.database.rawValue)db'"
            )
        }
    }

    private static func identity(
        _ user: StoredUser,
        _ info: UserIdentity.LookupInfo? = nil
    ) -> UserIdentity {
        UserIdentity(
            userRecordName: user.recordName,
            nameComponents: user.givenName.map {
                UserIdentity.NameComponents(givenName: $0, familyName: user.familyName)
            },
            lookupInfo: info ?? UserIdentity.LookupInfo(userRecordName: user.recordName)
        )
    }
}

/// The body of `users/lookup/…`.
private struct LookupUsersRequest: Decodable {
    let users: [UserIdentity.LookupInfo]
}

private struct UserDictionaries: Encodable {
    let users: [UserDictionary]
}

/// A user in the format of the older endpoints.
private struct UserDictionary: Encodable {
    let userRecordName: String
    let firstName: String?
    let lastName: String?
    var emailAddress: String?

    init(_ user: StoredUser) {
        userRecordName = user.recordName
        firstName = user.givenName
        lastName = user.familyName
        emailAddress = user.emailAddress
    }
}
