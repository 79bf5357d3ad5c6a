// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// Compiled, not run: the operations about users and tokens.
@Suite("Calls of operations about users")
struct IdentityOperationCalls {
    func discover(_ container: CKContainer, _ address: String) {
        let infos = [
            CKUserIdentity.LookupInfo(emailAddress: address),
            CKUserIdentity.LookupInfo(phoneNumber: "+49301234"),
            CKUserIdentity.LookupInfo(userRecordID: CKRecord.ID(recordName: "_ada")),
        ]
        let operation = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: infos)
        operation.userIdentityDiscoveredBlock = { identity, info in
            _ = (identity.userRecordID, identity.nameComponents, info.emailAddress)
        }
        operation.discoverUserIdentitiesResultBlock = { result in
            switch result {
            case .success: break
            case .failure(let error): _ = (error as? CKError)?.code
            }
        }
        operation.qualityOfService = .userInitiated
        container.add(operation)

        let empty = CKDiscoverUserIdentitiesOperation()
        empty.userIdentityLookupInfos = infos
        empty.addDependency(operation)
        container.add(empty)
    }

    @available(*, deprecated)
    func discoverAll() {
        let all = CKDiscoverAllUserIdentitiesOperation()
        all.userIdentityDiscoveredBlock = { identity in _ = identity.hasiCloudAccount }
        OperationQueue().addOperation(all)
    }

    func token(_ database: CKDatabase) {
        let operation = CKFetchWebAuthTokenOperation(apiToken: "token")
        operation.fetchWebAuthTokenResultBlock = { result in
            if case .success(let token) = result { _ = token.count }
        }
        database.add(operation)
        let other = CKFetchWebAuthTokenOperation()
        other.apiToken = "token"
        database.add(other)
    }

    @Test("What a sharing window would offer is chosen by options")
    func sharingOptions() {
        let options = CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: [.readOnly, .readWrite],
            allowedParticipantAccessOptions: .specifiedRecipientsOnly
        )
        options.allowedParticipantAccessOptions.insert(.anyoneWithLink)
        #expect(options.allowedParticipantAccessOptions == .any)
        #expect(options.allowedParticipantPermissionOptions.contains(.readWrite))
        #expect(CKAllowedSharingOptions.standard.allowedParticipantPermissionOptions == .any)
        #expect(CKSharingParticipantAccessOption(rawValue: 0).isEmpty)
        #expect(CKSharingParticipantPermissionOption.readOnly != .readWrite)
    }
}
