public import Foundation

/// A part of a database whose records change together and whose changes can be followed.
open class CKRecordZone: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The identity of a zone.
    public typealias ID = CKRecordZoneID

    /// What a zone can do.
    public struct Capabilities: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Makes a set of capabilities from its bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Its changes can be fetched from a token on.
        public static var fetchChanges: Capabilities { Capabilities(rawValue: 1 << 0) }
        /// Several records can be saved all together or not at all.
        public static var atomic: Capabilities { Capabilities(rawValue: 1 << 1) }
        /// Records can be shared with their hierarchy.
        public static var sharing: Capabilities { Capabilities(rawValue: 1 << 2) }
        /// The zone can be shared as a whole.
        public static var zoneWideSharing: Capabilities { Capabilities(rawValue: 1 << 3) }
    }

    /// The zone's identity.
    public let zoneID: CKRecordZone.ID

    /// What the zone can do; known for zones that came from the server.
    public let capabilities: Capabilities

    /// The share of the whole zone, if there is one; known for zones that came from the server.
    public let share: CKRecord.Reference?

    /// The default zone, which every database has and nobody needs to save.
    open class func `default`() -> CKRecordZone {
        CKRecordZone(zoneID: .default)
    }

    /// Makes a zone of the current user, to be saved.
    public convenience init(zoneName: String) {
        self.init(zoneID: CKRecordZone.ID(zoneName: zoneName))
    }

    /// Makes a zone, to be saved.
    public init(zoneID: CKRecordZone.ID) {
        self.zoneID = zoneID
        capabilities = []
        share = nil
    }

    /// Makes a zone that came from the server.
    init(zoneID: CKRecordZone.ID, capabilities: Capabilities, share: CKRecord.Reference? = nil) {
        self.zoneID = zoneID
        self.capabilities = capabilities
        self.share = share
    }

    /// The zone itself, which cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: an archived zone can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the zone.
    open func encode(with coder: NSCoder) {
        coder.encode(zoneID, forKey: "ZoneID")
        coder.encode(Int64(capabilities.rawValue), forKey: "Capabilities")
        coder.encode(share, forKey: "ShareReference")
    }

    /// Reads a zone; nil when its identity is missing.
    public required init?(coder: NSCoder) {
        coder.forgive()
        guard let zoneID = coder.object(CKRecordZone.ID.self, forKey: "ZoneID") else { return nil }
        self.zoneID = zoneID
        let bits =
            coder.containsValue(forKey: "Capabilities")
            ? coder.decodeInt64(forKey: "Capabilities") : 0
        capabilities = Capabilities(rawValue: UInt(truncatingIfNeeded: bits))
        share = coder.object(CKRecord.Reference.self, forKey: "ShareReference")
    }

    /// The zone's identity.
    open override var description: String { "<CKRecordZone: \(zoneID)>" }
}
