public import Foundation

/// A field value that points to another record.
///
/// Apps write `CKRecord.Reference`; the class stands at the top level because keyed archives of
/// Foundation cannot name a nested one.
open class CKReference: NSObject, NSCopying, NSSecureCoding, CKRecordValueProtocol,
    __CKRecordObjCValue, @unchecked Sendable
{
    // @unchecked Sendable because both stored properties are constants.

    /// What happens to the referring record when the target is deleted.
    public typealias Action = CKRecord.ReferenceAction

    /// What happens to the referring record when the target is deleted.
    public let action: CKRecord.ReferenceAction

    /// The record pointed to.
    public let recordID: CKRecord.ID

    /// Makes a reference to the record of an identity.
    public init(recordID: CKRecord.ID, action: CKRecord.ReferenceAction) {
        self.recordID = recordID
        self.action = action
    }

    /// Makes a reference to a record.
    public convenience init(record: CKRecord, action: CKRecord.ReferenceAction) {
        self.init(recordID: record.recordID, action: action)
    }

    /// Whether target and action are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecord.Reference else { return false }
        return action == other.action && recordID.isEqual(other.recordID)
    }

    /// A hash of the target.
    open override var hash: Int { recordID.hash }

    /// The reference itself, which cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: an archived reference can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes target and action.
    open func encode(with coder: NSCoder) {
        coder.encode(recordID, forKey: "RecordID")
        coder.encode(Int64(action.rawValue), forKey: "ReferenceAction")
    }

    /// Reads a reference; nil when the target is missing or the action unknown.
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

    /// The target and the action.
    open override var description: String { "<CKReference: \(recordID); action=\(action)>" }
}
