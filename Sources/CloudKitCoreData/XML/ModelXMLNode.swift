/// An element of a model file.
struct ModelXMLNode: Hashable, Sendable {
    var name: String
    var attributes: [String: String]
    var children: [ModelXMLNode] = []
    var text = ""
    /// The line in the file, from 1.
    var line: Int

    /// Returns the child elements with a name.
    func all(_ name: String) -> [ModelXMLNode] { children.filter { $0.name == name } }

    /// Returns the element as an unknown part.
    func unknown(in place: String) -> CoreDataModel.UnknownPart {
        CoreDataModel.UnknownPart(
            place: place,
            name: name,
            value: text.isEmpty ? nil : text,
            attributes: attributes,
            children: children.map { $0.unknown(in: place) }
        )
    }
}
