public import CloudKit

/// A reference to a model that is not loaded with the value that holds it.
///
/// It breaks cycles and keeps a graph small: the target is loaded only on request.
///
/// ```swift
/// struct Person: CloudKitModel {
///     var id: String
///     var friends: [CloudKitReference<Person>]
/// }
/// let friend = try await database.graph(
///     Person.self,
///     for: person.friends[0].recordID(in: zoneID)
/// ).root
/// ```
public struct CloudKitReference<Target: CloudKitModel>: Sendable, Hashable {
    /// The target's name.
    public let recordName: String

    /// The action on the record that holds the reference when the target is deleted.
    public let action: CKRecord.ReferenceAction

    /// Creates a reference to a value.
    public init(to target: Target, action: CKRecord.ReferenceAction = .none) {
        self.init(recordName: target.recordName, action: action)
    }

    /// Creates a reference to a record by its name.
    public init(
        recordName: String,
        action: CKRecord.ReferenceAction = .none
    ) {
        self.recordName = recordName
        self.action = action
    }

    /// Returns the target's identity; references do not leave their zone.
    public func recordID(in zoneID: CKRecordZone.ID) -> CKRecord.ID {
        CKRecord.ID(recordName: recordName, zoneID: zoneID)
    }
}

extension CloudKitReference: Codable {
    private enum CodingKeys: String, CodingKey {
        case recordName, action
    }

    /// Decodes a reference from a coder that is not of this module.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let isDeleting = try container.decode(UInt.self, forKey: .action) == 1
        self.init(
            recordName: try container.decode(String.self, forKey: .recordName),
            action: isDeleting ? .deleteSelf : .none
        )
    }

    /// Encodes the reference for a coder that is not of this module.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(action.rawValue, forKey: .action)
    }
}

/// The view that this module's coders have of a reference, whatever its target.
protocol ReferenceField {
    static var targetType: any CloudKitModel.Type { get }
    var recordName: String { get }
    var action: CKRecord.ReferenceAction { get }
    init(recordName: String, action: CKRecord.ReferenceAction)
}

extension CloudKitReference: ReferenceField {
    static var targetType: any CloudKitModel.Type { Target.self }
}
