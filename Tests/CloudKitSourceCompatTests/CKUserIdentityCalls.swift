// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

@Suite("Calls of CKUserIdentity")
struct CKUserIdentityCalls {
    @Test("People are looked up by address, number and record")
    func lookup() {
        let email = CKUserIdentity.LookupInfo(emailAddress: "a@example.com")
        let phone = CKUserIdentity.LookupInfo(phoneNumber: "123")
        let record = CKUserIdentity.LookupInfo(userRecordID: CKRecord.ID(recordName: "u"))
        #expect(email.emailAddress == "a@example.com" && email.phoneNumber == nil)
        #expect(phone.phoneNumber == "123" && record.userRecordID?.recordName == "u")
        let infos =
            CKUserIdentity.LookupInfo.lookupInfos(withEmails: ["a@example.com"])
            + CKUserIdentity.LookupInfo.lookupInfos(withPhoneNumbers: ["123"])
            + CKUserIdentity.LookupInfo.lookupInfos(with: [CKRecord.ID(recordName: "u")])
        #expect(infos.count == 3)
    }

    func names(_ share: CKShare) -> [String] {
        share.participants.map { participant in
            let identity = participant.userIdentity
            guard let name = identity.nameComponents else {
                return identity.lookupInfo?.emailAddress ?? identity.userRecordID?.recordName ?? ""
            }
            return [name.givenName, name.familyName].compactMap(\.self).joined(separator: " ")
        }
    }

    func facts(_ identity: CKUserIdentity) -> Bool {
        identity.hasiCloudAccount && !identity.contactIdentifiers.isEmpty
    }
}
