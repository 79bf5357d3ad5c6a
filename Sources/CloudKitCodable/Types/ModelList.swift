/// A list of models, whatever their type: a list of references in a record.
protocol ModelList {
    static var modelType: any CloudKitModel.Type { get }
    var models: [any CloudKitModel] { get }
    static func list(of models: [any CloudKitModel]) -> Self?
}

extension Array: ModelList where Element: CloudKitModel {
    static var modelType: any CloudKitModel.Type { Element.self }
    var models: [any CloudKitModel] { self }

    static func list(of models: [any CloudKitModel]) -> [Element]? {
        let elements = models.compactMap { $0 as? Element }
        return elements.count == models.count ? elements : nil
    }
}

extension Set: ModelList where Element: CloudKitModel {
    static var modelType: any CloudKitModel.Type { Element.self }

    /// In the order of their names: a set has none of its own.
    var models: [any CloudKitModel] { sorted { $0.recordName < $1.recordName } }

    static func list(of models: [any CloudKitModel]) -> Set<Element>? {
        guard let elements = [Element].list(of: models) else { return nil }
        return Set(elements)
    }
}
