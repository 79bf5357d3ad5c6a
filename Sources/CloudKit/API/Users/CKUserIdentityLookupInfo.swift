public import Foundation

/// What someone can be found by.
///
/// Apps write `CKUserIdentity.LookupInfo`.
open class CKUserIdentityLookupInfo: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The e-mail address.
    open var emailAddress: String? { if case .email(let address) = key { address } else { nil } }

    /// The telephone number.
    open var phoneNumber: String? { if case .phone(let number) = key { number } else { nil } }

    /// The identity of the user's record.
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

    /// Finds someone by e-mail address.
    public convenience init(emailAddress: String) {
        self.init(key: .email(emailAddress))
    }

    /// Finds someone by telephone number.
    public convenience init(phoneNumber: String) {
        self.init(key: .phone(phoneNumber))
    }

    /// Finds someone by the identity of the user's record.
    public convenience init(userRecordID: CKRecord.ID) {
        self.init(key: .record(userRecordID))
    }

    /// Finds people by e-mail address.
    open class func lookupInfos(withEmails emails: [String]) -> [CKUserIdentity.LookupInfo] {
        emails.map { CKUserIdentity.LookupInfo(emailAddress: $0) }
    }

    /// Finds people by telephone number.
    open class func lookupInfos(
        withPhoneNumbers phoneNumbers: [String]
    ) -> [CKUserIdentity.LookupInfo] {
        phoneNumbers.map { CKUserIdentity.LookupInfo(phoneNumber: $0) }
    }

    /// Finds people by the identities of their records.
    open class func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentity.LookupInfo] {
        recordIDs.map { CKUserIdentity.LookupInfo(userRecordID: $0) }
    }

    /// Whether both are found by the same.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKUserIdentityLookupInfo)?.key == key
    }

    /// A hash of what someone is found by.
    open override var hash: Int { key.hashValue }

    /// The key itself, which cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: an archived key can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes what someone is found by.
    open func encode(with coder: NSCoder) {
        coder.encode(emailAddress as NSString?, forKey: "EmailAddress")
        coder.encode(phoneNumber as NSString?, forKey: "PhoneNumber")
        coder.encode(userRecordID, forKey: "UserRecordID")
    }

    /// Reads what someone is found by; nil when there is nothing.
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
