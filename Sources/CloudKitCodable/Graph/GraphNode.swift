package import CloudKit

/// A value that becomes a record of its own in a graph.
package struct GraphNode {
    let value: any Encodable
    let recordType: CKRecord.RecordType
    let recordName: String
    let fields: [String: CloudKitField]

    /// The type that is decoded at the value's location: the value's own, or a superclass of it.
    let readType: Any.Type

    /// Creates the node of another API's value.
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

    /// Creates the node of a model whose own type is decoded at its location.
    init<Model: CloudKitModel>(_ model: Model) {
        self.init(model, readAs: Model.self)
    }

    /// Creates the node of a model at a location where another type is decoded.
    init<Model: CloudKitModel>(_ model: Model, readAs type: any CloudKitModel.Type) {
        value = model
        readType = type
        recordType = type.recordType
        recordName = model.recordName
        fields = Model.fields.byKey
    }
}
