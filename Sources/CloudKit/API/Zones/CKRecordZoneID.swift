public import Foundation

/// The identity of a record zone: its name and its owner.
///
/// Apps write `CKRecordZone.ID`; the class stands at the top level because keyed archives of
/// Foundation cannot name a nested one.
open class CKRecordZoneID: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because both stored properties are constants.

    /// The zone's name, unique for its owner within a database.
    public let zoneName: String

    /// The owner's user record name, or `CKCurrentUserDefaultName`.
    public let ownerName: String

    /// The default zone of the current user.
    public static let `default` = CKRecordZone.ID()

    /// The name of the zone that every database has.
    public static let defaultZoneName: String = "_defaultZone"

    /// Makes an identity from a name and an owner; neither may be empty.
    public init(
        zoneName: String = CKRecordZone.ID.defaultZoneName,
        ownerName: String = CKCurrentUserDefaultName
    ) {
        precondition(!zoneName.isEmpty, "CKRecordZone.ID: the zone name is empty")
        precondition(!ownerName.isEmpty, "CKRecordZone.ID: the owner name is empty")
        self.zoneName = zoneName
        self.ownerName = ownerName
    }

    /// Makes an identity from a name and an owner; nil stands for the current user.
    @available(*, deprecated, message: "Leave the owner out")
    @_disfavoredOverload
    public convenience init(
        zoneName: String = CKRecordZone.ID.defaultZoneName,
        ownerName: String?
    ) {
        self.init(zoneName: zoneName, ownerName: ownerName ?? CKCurrentUserDefaultName)
    }

    /// Whether name and owner are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordZone.ID else { return false }
        return self === other || (zoneName == other.zoneName && ownerName == other.ownerName)
    }

    /// A hash of name and owner.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(zoneName)
        hasher.combine(ownerName)
        return hasher.finalize()
    }

    /// The identity itself, which cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: an archived identity can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes name and owner under the keys that Apple's archives use.
    open func encode(with coder: NSCoder) {
        coder.encode(zoneName as NSString, forKey: "ZoneName")
        coder.encode(ownerName as NSString, forKey: "ownerName")
    }

    /// Reads an identity; nil when a part is missing or empty.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let zoneName = coder.string(forKey: "ZoneName"), !zoneName.isEmpty,
            let ownerName = coder.string(forKey: "ownerName"), !ownerName.isEmpty
        else { return nil }
        self.zoneName = zoneName
        self.ownerName = ownerName
    }

    /// Name and owner.
    open override var description: String { "\(zoneName):\(ownerName)" }
}
