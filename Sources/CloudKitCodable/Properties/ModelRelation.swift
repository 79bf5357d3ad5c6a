import CloudKit

/// A property of a model that leads to other records.
struct ModelRelation: @unchecked Sendable {
    // @unchecked Sendable because it is a value whose types are constants.

    /// The coding key.
    let key: String

    /// The field that refers to the models; for children, a field of the models' records.
    let field: String

    /// `true` when the models refer to the owner.
    let isChildren: Bool

    /// The types that were requested under the key.
    var types: [any CloudKitModel.Type]

    /// Creates the relation of a property; nil when the property holds no records of their own.
    init?(_ key: String, _ target: any CloudKitModel.Type, _ options: CloudKitField?) {
        switch options?.storage {
        case nil, .automatic?: break
        default: return nil
        }
        self.key = key
        types = [target]
        if case .children(let via, _, _)? = options?.relation {
            field = via
            isChildren = true
        } else {
            field = options?.name ?? key
            isChildren = false
        }
    }
}
