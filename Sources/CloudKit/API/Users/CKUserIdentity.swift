public import Foundation

/// A person's identity, as far as the current user may know it.
open class CKUserIdentity: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The key to look a user up by.
    public typealias LookupInfo = CKUserIdentityLookupInfo

    /// The key that the user was looked up by.
    open var lookupInfo: CKUserIdentity.LookupInfo? { details.lookupInfo }

    /// The user's name, if the user has made it known.
    open var nameComponents: PersonNameComponents? { details.nameComponents }

    /// The ID of the user's record; nil for a person without an account.
    open var userRecordID: CKRecord.ID? { details.userRecordID }

    /// A Boolean value that indicates whether the person has an account.
    open var hasiCloudAccount: Bool { details.userRecordID != nil }

    /// The user's entries in the address book: none, because there is no address book here.
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

    /// Returns the ID itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes all values.
    open func encode(with coder: NSCoder) {
        coder.encode(details.lookupInfo, forKey: "LookupInfo")
        coder.encode(details.userRecordID, forKey: "UserRecordID")
        // Texts can always be encoded.
        if let name = details.nameComponents, let data = try? JSONEncoder().encode(name) {
            coder.encode(data as NSData, forKey: "swift-cloudkit.nameComponents")
        }
    }

    /// Creates an identity from an archive; missing values are unknown.
    public required init?(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        details = Details(
            lookupInfo: aDecoder.object(LookupInfo.self, forKey: "LookupInfo"),
            nameComponents: aDecoder.bytes(forKey: "swift-cloudkit.nameComponents").flatMap {
                // An identity without its name is still one.
                try? JSONDecoder().decode(PersonNameComponents.self, from: $0)
            },
            userRecordID: aDecoder.object(CKRecord.ID.self, forKey: "UserRecordID")
        )
    }

    /// A textual representation with the user record's name.
    open override var description: String {
        "<CKUserIdentity: \(userRecordID?.recordName ?? "no account")>"
    }
}
