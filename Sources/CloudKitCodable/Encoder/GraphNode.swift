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

/// Encodes values into records, for an API that has other protocols than this module.
package protocol GraphDialect {
    /// The action on a record when a record that it refers to is deleted.
    var referenceAction: CKRecord.ReferenceAction { get }

    /// Returns whether values of a type are records.
    func isNode(_ type: Any.Type) -> Bool

    /// Returns the node of a value; nil for values of other types.
    func node(for value: any Encodable) -> GraphNode?

    /// Returns the form in which a value is stored; nil for the usual one.
    func form(of value: any Encodable) throws -> (any CKRecordValue)?
}

/// A list of models as nodes of a graph, whatever their type.
protocol EncodableModelList: ModelList {
    /// The nodes in a stable order.
    var nodes: [GraphNode] { get }
}

extension Array: EncodableModelList where Element: CloudKitModel {
    var nodes: [GraphNode] { map { GraphNode($0) } }
}

extension Set: EncodableModelList where Element: CloudKitModel {
    /// The models in the order of their names, because a set has no order.
    var nodes: [GraphNode] { sorted { $0.recordName < $1.recordName }.nodes }
}
