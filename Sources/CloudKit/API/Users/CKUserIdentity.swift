public import Foundation

/// Who someone is, as far as the user may know.
open class CKUserIdentity: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// What someone can be found by.
    public typealias LookupInfo = CKUserIdentityLookupInfo

    /// What the user was found by.
    open var lookupInfo: CKUserIdentity.LookupInfo? { details.lookupInfo }

    /// The user's name, where the user made it known.
    open var nameComponents: PersonNameComponents? { details.nameComponents }

    /// The identity of the user's record; nil for someone who has no account yet.
    open var userRecordID: CKRecord.ID? { details.userRecordID }

    /// Whether there is an account.
    open var hasiCloudAccount: Bool { details.userRecordID != nil }

    /// The user's entries in the address book: none, there is no address book here.
    open var contactIdentifiers: [String] { [] }

    struct Details {
        var lookupInfo: CKUserIdentity.LookupInfo?
        var nameComponents: PersonNameComponents?
        var userRecordID: CKRecord.ID?
    }

    private let details: Details

    init(_ details: Details) {
        self.details = details
    }

    /// The identity itself, which cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: an archived identity can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes all values.
    open func encode(with coder: NSCoder) {
        coder.encode(details.lookupInfo, forKey: "LookupInfo")
        coder.encode(details.userRecordID, forKey: "UserRecordID")
        if let name = details.nameComponents, let data = try? JSONEncoder().encode(name) {
            coder.encode(data as NSData, forKey: "swift-cloudkit.nameComponents")
        }
    }

    /// Reads an identity; what is missing is not known.
    public required init?(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        details = Details(
            lookupInfo: aDecoder.object(LookupInfo.self, forKey: "LookupInfo"),
            nameComponents: aDecoder.bytes(forKey: "swift-cloudkit.nameComponents").flatMap {
                try? JSONDecoder().decode(PersonNameComponents.self, from: $0)
            },
            userRecordID: aDecoder.object(CKRecord.ID.self, forKey: "UserRecordID")
        )
    }

    /// The user record's identity.
    open override var description: String {
        "<CKUserIdentity: \(userRecordID?.recordName ?? "no account")>"
    }
}
