public import Foundation

/// A record zone's ID: its name and its owner.
///
/// Apps write `CKRecordZone.ID`; the class is declared at the top level because Foundation's keyed
/// archives cannot name a nested one.
open class CKRecordZoneID: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because both stored properties are constants.

    /// The zone's name, unique for its owner within a database.
    public let zoneName: String

    /// The owner's user record name, or `CKCurrentUserDefaultName`.
    public let ownerName: String

    /// The ID of the current user's default zone.
    public static let `default` = CKRecordZone.ID()

    /// The name of the default zone, which every database has.
    public static let defaultZoneName: String = "_defaultZone"

    /// Creates an ID from a name and an owner; neither may be empty.
    public init(
        zoneName: String = CKRecordZone.ID.defaultZoneName,
        ownerName: String = CKCurrentUserDefaultName
    ) {
        precondition(!zoneName.isEmpty, "CKRecordZone.ID: the zone name is empty")
        precondition(!ownerName.isEmpty, "CKRecordZone.ID: the owner name is empty")
        self.zoneName = zoneName
        self.ownerName = ownerName
    }

    /// Creates an ID from a name and an owner; nil stands for the current user.
    @available(*, deprecated, message: "Leave the owner out")
    @_disfavoredOverload
    public convenience init(
        zoneName: String = CKRecordZone.ID.defaultZoneName,
        ownerName: String?
    ) {
        self.init(zoneName: zoneName, ownerName: ownerName ?? CKCurrentUserDefaultName)
    }

    /// Returns whether name and owner are equal.
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

    /// Returns the ID itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes name and owner under the keys of Apple's archives.
    open func encode(with coder: NSCoder) {
        coder.encode(zoneName as NSString, forKey: "ZoneName")
        coder.encode(ownerName as NSString, forKey: "ownerName")
    }

    /// Creates an ID from an archive; nil when a part is missing or empty.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let zoneName = coder.string(forKey: "ZoneName"), !zoneName.isEmpty,
            let ownerName = coder.string(forKey: "ownerName"), !ownerName.isEmpty
        else { return nil }
        self.zoneName = zoneName
        self.ownerName = ownerName
    }

    /// A textual representation with the name and the owner.
    open override var description: String { "\(zoneName):\(ownerName)" }
}
