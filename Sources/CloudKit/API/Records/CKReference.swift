public import Foundation

/// A field value that refers to another record.
///
/// Apps write `CKRecord.Reference`; the class is declared at the top level because Foundation's
/// keyed archives cannot name a nested one.
open class CKReference: NSObject, NSCopying, NSSecureCoding, CKRecordValueProtocol,
    __CKRecordObjCValue, @unchecked Sendable
{
    // @unchecked Sendable because both stored properties are constants.

    /// The effects that deleting the target can have on the referring record.
    public typealias Action = CKRecord.ReferenceAction

    /// The effect of the target's deletion on the referring record.
    public let action: CKRecord.ReferenceAction

    /// The target's ID.
    public let recordID: CKRecord.ID

    /// Creates a reference to the record with an ID.
    public init(recordID: CKRecord.ID, action: CKRecord.ReferenceAction) {
        self.recordID = recordID
        self.action = action
    }

    /// Creates a reference to a record.
    public convenience init(record: CKRecord, action: CKRecord.ReferenceAction) {
        self.init(recordID: record.recordID, action: action)
    }

    /// Returns whether target and action are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecord.Reference else { return false }
        return action == other.action && recordID.isEqual(other.recordID)
    }

    /// A hash of the target.
    open override var hash: Int { recordID.hash }

    /// Returns the reference itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes target and action.
    open func encode(with coder: NSCoder) {
        coder.encode(recordID, forKey: "RecordID")
        coder.encode(Int64(action.rawValue), forKey: "ReferenceAction")
    }

    /// Creates a reference from an archive; nil when the target is missing or the action unknown.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let recordID = coder.object(CKRecord.ID.self, forKey: "RecordID"),
            coder.containsValue(forKey: "ReferenceAction"),
            let rawValue = UInt(exactly: coder.decodeInt64(forKey: "ReferenceAction")),
            let action = CKRecord.ReferenceAction(rawValue: rawValue)
        else { return nil }
        self.recordID = recordID
        self.action = action
    }

    /// A textual representation with the target and the action.
    open override var description: String { "<CKReference: \(recordID); action=\(action)>" }
}
