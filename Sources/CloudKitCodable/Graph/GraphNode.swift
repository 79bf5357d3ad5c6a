package import CloudKit

/// A value that becomes a record of its own in a graph.
package struct GraphNode {
    let value: any Encodable
    let recordType: CKRecord.RecordType
    let recordName: String
    let fields: [String: CloudKitField]

    /// Makes the node of a value of an API of its own.
    package init(
        value: any Encodable,
        recordType: CKRecord.RecordType,
        recordName: String,
        ignoring ignored: [String]
    ) {
        self.value = value
        self.recordType = recordType
        self.recordName = recordName
        fields = Dictionary(ignored.map { ($0, .ignored) }) { first, _ in first }
    }

    /// Makes the node of a model.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - recordType: The type of the records that are read where the model stands.
    init<Model: CloudKitModel>(_ model: Model, readAs recordType: CKRecord.RecordType? = nil) {
        value = model
        self.recordType = recordType ?? Model.recordType
        recordName = model.recordName
        fields = Model.fields.byKey
    }
}
