public import Foundation

/// The key to look a user up by: an email address, a phone number or a user record's ID.
///
/// Apps write `CKUserIdentity.LookupInfo`.
open class CKUserIdentityLookupInfo: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The email address.
    open var emailAddress: String? { if case .email(let address) = key { address } else { nil } }

    /// The phone number.
    open var phoneNumber: String? { if case .phone(let number) = key { number } else { nil } }

    /// The ID of the user's record.
    open var userRecordID: CKRecord.ID? { if case .record(let id) = key { id } else { nil } }

    enum Key: Hashable {
        case email(String)
        case phone(String)
        case record(CKRecord.ID)
    }

    let key: Key

    init(key: Key) {
        self.key = key
    }

    /// Creates a key from an email address.
    public convenience init(emailAddress: String) {
        self.init(key: .email(emailAddress))
    }

    /// Creates a key from a phone number.
    public convenience init(phoneNumber: String) {
        self.init(key: .phone(phoneNumber))
    }

    /// Creates a key from the ID of a user's record.
    public convenience init(userRecordID: CKRecord.ID) {
        self.init(key: .record(userRecordID))
    }

    /// Returns keys for email addresses.
    open class func lookupInfos(withEmails emails: [String]) -> [CKUserIdentity.LookupInfo] {
        emails.map { CKUserIdentity.LookupInfo(emailAddress: $0) }
    }

    /// Returns keys for phone numbers.
    open class func lookupInfos(
        withPhoneNumbers phoneNumbers: [String]
    ) -> [CKUserIdentity.LookupInfo] {
        phoneNumbers.map { CKUserIdentity.LookupInfo(phoneNumber: $0) }
    }

    /// Returns keys for the IDs of user records.
    open class func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentity.LookupInfo] {
        recordIDs.map { CKUserIdentity.LookupInfo(userRecordID: $0) }
    }

    /// Returns whether both keys are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKUserIdentityLookupInfo)?.key == key
    }

    /// A hash of the key.
    open override var hash: Int { key.hashValue }

    /// Returns the key itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the key.
    open func encode(with coder: NSCoder) {
        coder.encode(emailAddress as NSString?, forKey: "EmailAddress")
        coder.encode(phoneNumber as NSString?, forKey: "PhoneNumber")
        coder.encode(userRecordID, forKey: "UserRecordID")
    }

    /// Creates a key from an archive; nil when there is none.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        if let address = coder.string(forKey: "EmailAddress") {
            key = .email(address)
        } else if let number = coder.string(forKey: "PhoneNumber") {
            key = .phone(number)
        } else if let recordID = coder.object(CKRecord.ID.self, forKey: "UserRecordID") {
            key = .record(recordID)
        } else {
            return nil
        }
    }
}
