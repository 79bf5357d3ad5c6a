package import CloudKit

/// A value that becomes a record of its own in a graph.
package struct GraphNode {
    let value: any Encodable
    let recordType: CKRecord.RecordType
    let recordName: String
    let fields: [String: CloudKitField]

    /// The type that is read where the value stands: the value's own, or a superclass of it.
    let readType: Any.Type

    /// Makes the node of a value of an API of its own.
    package init(
        value: any Encodable,
        recordType: CKRecord.RecordType,
        recordName: String,
        ignoring ignored: [String]
    ) {
        self.value = value
        readType = type(of: value)
        self.recordType = recordType
        self.recordName = recordName
        fields = Dictionary(ignored.map { ($0, .ignored) }) { first, _ in first }
    }

    /// Makes the node of a model, in a place where its type is read.
    init<Model: CloudKitModel>(_ model: Model) {
        self.init(model, readAs: Model.self)
    }

    /// Makes the node of a model, in a place where the records of a type are read.
    init<Model: CloudKitModel>(_ model: Model, readAs type: any CloudKitModel.Type) {
        value = model
        readType = type
        recordType = type.recordType
        recordName = model.recordName
        fields = Model.fields.byKey
    }
}
