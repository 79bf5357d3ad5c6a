import Foundation

/// A reader of the model in the file `contents`.
struct ModelXMLReader {
    private static let modelType = "com.apple.IDECoreDataModeler.DataModel"

    private(set) var unknown: [CoreDataModel.UnknownPart] = []

    /// Returns the model in a file.
    ///
    /// - Throws: ``CoreDataModelError`` with the line and the part of the model.
    static func model(_ data: Data) throws(CoreDataModelError) -> CoreDataModel {
        var reader = Self()
        return try reader.model(ModelXMLParser.parse(data))
    }

    private mutating func model(_ node: ModelXMLNode) throws(CoreDataModelError) -> CoreDataModel {
        guard node.name == "model" else {
            throw CoreDataModelError(
                .malformed,
                "line \(node.line)",
                "the element at the top is <\(node.name)>, <model> is expected"
            )
        }
        var attributes = ModelXMLAttributes(node, "")
        if let type = attributes.text("type"), type != Self.modelType {
            throw attributes.failure("a model of type \(type) is not read, only \(Self.modelType)")
        }
        attributes.ignore(
            "documentVersion",
            "lastSavedToolsVersion",
            "systemVersion",
            "minimumToolsVersion",
            "sourceLanguage",
            "usedWithSwiftData",
            "name",
            "macOSVersion",
            "iOSVersion"
        )
        let identifier = attributes.text("userDefinedModelVersionIdentifier")
        let isUsedWithCloudKit = try attributes.flag("usedWithCloudKit")
        unknown += attributes.unknown
        var entities: [CoreDataModel.Entity] = []
        var composites: [CoreDataModel.Composite] = []
        var configurations: [CoreDataModel.Configuration] = []
        var requests: [CoreDataModel.FetchRequest] = []
        for child in node.children {
            switch child.name {
            case "entity": entities.append(try entity(child))
            case "composite": composites.append(try composite(child))
            case "configuration": configurations.append(try configuration(child))
            case "fetchRequest": requests.append(try fetchRequest(child, in: ""))
            case "elements": break
            default: unknown.append(child.unknown(in: ""))
            }
        }
        return try CoreDataModel(
            entities: entities,
            composites: composites,
            configurations: configurations,
            fetchRequests: requests,
            versionIdentifiers: identifier.map { [$0] } ?? [],
            isUsedWithCloudKit: isUsedWithCloudKit,
            unknownParts: unknown
        )
    }

    private mutating func composite(
        _ node: ModelXMLNode
    ) throws(CoreDataModelError) -> CoreDataModel.Composite {
        var attributes = ModelXMLAttributes(node, "a composite")
        let name = try attributes.required("name")
        unknown += attributes.unknown
        var composite = CoreDataModel.Composite(name: name)
        for child in node.children {
            if child.name == "attribute" {
                composite.attributes.append(try attribute(child, in: name))
            } else {
                unknown.append(child.unknown(in: name))
            }
        }
        return composite
    }

    private mutating func configuration(
        _ node: ModelXMLNode
    ) throws(CoreDataModelError) -> CoreDataModel.Configuration {
        var attributes = ModelXMLAttributes(node, "a configuration")
        let name = try attributes.required("name")
        var configuration = CoreDataModel.Configuration(name: name, entities: [])
        configuration.isUsedWithCloudKit = try attributes.flag("usedWithCloudKit")
        unknown += attributes.unknown
        for child in node.children {
            guard child.name == "memberEntity" else {
                unknown.append(child.unknown(in: "configuration \(name)"))
                continue
            }
            var member = ModelXMLAttributes(child, "configuration \(name)")
            configuration.entities.append(try member.required("name"))
            unknown += member.unknown
        }
        return configuration
    }

    mutating func fetchRequest(
        _ node: ModelXMLNode,
        in place: String
    ) throws(CoreDataModelError) -> CoreDataModel.FetchRequest {
        var attributes = ModelXMLAttributes(node, place)
        var request = CoreDataModel.FetchRequest(
            name: try attributes.required("name"),
            entity: attributes.text("entity")
        )
        request.predicate = attributes.text("predicateString")
        unknown += attributes.unknown
        unknown += node.children.map { $0.unknown(in: place) }
        return request
    }

    /// Returns the entries of `userInfo`.
    mutating func userInfo(
        _ node: ModelXMLNode,
        in place: String
    ) throws(CoreDataModelError) -> [String: String] {
        var entries: [String: String] = [:]
        for child in node.children {
            guard child.name == "entry" else {
                unknown.append(child.unknown(in: place))
                continue
            }
            var attributes = ModelXMLAttributes(child, "\(place), userInfo")
            let key = try attributes.required("key")
            entries[key] = attributes.text("value") ?? ""
            unknown += attributes.unknown
        }
        return entries
    }

    mutating func note(_ parts: [CoreDataModel.UnknownPart]) { unknown += parts }
}
