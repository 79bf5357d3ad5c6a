#if Macros
import CloudKitCodable

/// A model without its mapping: coded by its `encode(to:)` and `init(from:)`.
struct ByCodable<Model: CloudKitMappedModel>: CloudKitModel {
    var model: Model

    init(_ model: Model) { self.model = model }

    init(from decoder: any Decoder) throws { model = try Model(from: decoder) }
    func encode(to encoder: any Encoder) throws { try model.encode(to: encoder) }

    static var recordType: String { Model.recordType }
    static var fields: CloudKitFields { Model.fields }
    var recordName: String { model.recordName }
}
#endif
