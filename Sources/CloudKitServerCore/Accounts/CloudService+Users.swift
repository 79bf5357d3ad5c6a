import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// `users/caller`: who the caller is.
    func currentUser(_ call: Call) async throws -> Data {
        let user = try call.user()
        let identity = UserIdentity(
            userRecordName: user.recordName,
            nameComponents: user.givenName.map {
                UserIdentity.NameComponents(givenName: $0, familyName: user.familyName)
            },
            lookupInfo: UserIdentity.LookupInfo(userRecordName: user.recordName)
        )
        return try WireJSON.encode(identity)
    }
}
