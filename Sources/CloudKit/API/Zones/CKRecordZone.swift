public import Foundation

/// A part of a database whose records can be saved atomically and fetched by changes.
///
/// ```swift
/// let zone = CKRecordZone(zoneName: "Notes")
/// _ = try await database.modifyRecordZones(saving: [zone], deleting: [])
/// let note = CKRecord(recordType: "Note", recordID: .init(recordName: "a", zoneID: zone.zoneID))
/// ```
open class CKRecordZone: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because every stored property is a constant.

    /// The ID of a zone.
    public typealias ID = CKRecordZoneID

    /// The capabilities that a zone can have.
    public struct Capabilities: OptionSet, Sendable {
        /// The options as a bit mask.
        public let rawValue: UInt

        /// Creates capabilities from a bit mask.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Changes can be fetched since a change token.
        public static var fetchChanges: Capabilities { Capabilities(rawValue: 1 << 0) }
        /// Several records can be saved atomically.
        public static var atomic: Capabilities { Capabilities(rawValue: 1 << 1) }
        /// Records can be shared with their hierarchy.
        public static var sharing: Capabilities { Capabilities(rawValue: 1 << 2) }
        /// The zone can be shared as a whole.
        public static var zoneWideSharing: Capabilities { Capabilities(rawValue: 1 << 3) }
    }

    /// The zone's ID.
    open var zoneID: CKRecordZone.ID { identity }

    /// The zone's capabilities; known for zones that came from the server.
    open var capabilities: Capabilities { abilities }

    /// The share of the whole zone, if there is one; known for zones that came from the server.
    open var share: CKRecord.Reference? { zoneWideShare }

    private let identity: CKRecordZone.ID
    private let abilities: Capabilities
    private let zoneWideShare: CKRecord.Reference?

    /// Returns the default zone, which every database has without saving it.
    open class func `default`() -> CKRecordZone {
        CKRecordZone(zoneID: .default)
    }

    /// Creates a zone of the current user, to be saved.
    public init(zoneName: String) {
        identity = CKRecordZone.ID(zoneName: zoneName)
        abilities = []
        zoneWideShare = nil
    }

    /// Creates a zone with an ID, to be saved.
    public init(zoneID: CKRecordZone.ID) {
        identity = zoneID
        abilities = []
        zoneWideShare = nil
    }

    /// Creates a zone that came from the server.
    init(zoneID: CKRecordZone.ID, capabilities: Capabilities, share: CKRecord.Reference? = nil) {
        identity = zoneID
        abilities = capabilities
        zoneWideShare = share
    }

    /// Returns the zone itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the zone.
    open func encode(with coder: NSCoder) {
        coder.encode(identity, forKey: "ZoneID")
        coder.encode(Int64(abilities.rawValue), forKey: "Capabilities")
        coder.encode(zoneWideShare, forKey: "ShareReference")
    }

    /// Creates a zone from an archive; nil when its ID is missing.
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

    /// A textual representation with the zone's ID.
    open override var description: String { "<CKRecordZone: \(zoneID)>" }
}
