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
    open var zoneID: CKRecordZone.ID { identity }

    /// What the zone can do; known for zones that came from the server.
    open var capabilities: Capabilities { abilities }

    /// The share of the whole zone, if there is one; known for zones that came from the server.
    open var share: CKRecord.Reference? { zoneWideShare }

    private let identity: CKRecordZone.ID
    private let abilities: Capabilities
    private let zoneWideShare: CKRecord.Reference?

    /// The default zone, which every database has and nobody needs to save.
    open class func `default`() -> CKRecordZone {
        CKRecordZone(zoneID: .default)
    }

    /// Makes a zone of the current user, to be saved.
    public init(zoneName: String) {
        identity = CKRecordZone.ID(zoneName: zoneName)
        abilities = []
        zoneWideShare = nil
    }

    /// Makes a zone, to be saved.
    public init(zoneID: CKRecordZone.ID) {
        identity = zoneID
        abilities = []
        zoneWideShare = nil
    }

    /// Makes a zone that came from the server.
    init(zoneID: CKRecordZone.ID, capabilities: Capabilities, share: CKRecord.Reference? = nil) {
        identity = zoneID
        abilities = capabilities
        zoneWideShare = share
    }

    /// The zone itself, which cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: an archived zone can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the zone.
    open func encode(with coder: NSCoder) {
        coder.encode(identity, forKey: "ZoneID")
        coder.encode(Int64(abilities.rawValue), forKey: "Capabilities")
        coder.encode(zoneWideShare, forKey: "ShareReference")
    }

    /// Reads a zone; nil when its identity is missing.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let identity = coder.object(CKRecordZone.ID.self, forKey: "ZoneID") else {
            return nil
        }
        self.identity = identity
        let bits =
            coder.containsValue(forKey: "Capabilities")
            ? coder.decodeInt64(forKey: "Capabilities") : 0
        abilities = Capabilities(rawValue: UInt(truncatingIfNeeded: bits))
        zoneWideShare = coder.object(CKRecord.Reference.self, forKey: "ShareReference")
    }

    /// The zone's identity.
    open override var description: String { "<CKRecordZone: \(zoneID)>" }
}
