import Foundation

/// The attributes of an element, which records the ones that were not read.
struct ModelXMLAttributes {
    private let node: ModelXMLNode
    /// The part of the model that the element represents, for messages.
    let place: String
    private var rest: [String: String]

    init(_ node: ModelXMLNode, _ place: String) {
        self.node = node
        self.place = place
        rest = node.attributes
    }

    /// The attributes that were not read.
    var unknown: [CoreDataModel.UnknownPart] {
        rest.sorted { $0.key < $1.key }.map {
            CoreDataModel.UnknownPart(place: place, name: $0.key, value: $0.value)
        }
    }

    func failure(_ message: String) -> CoreDataModelError {
        CoreDataModelError(.malformed, "line \(node.line), \(place)", message)
    }

    /// Returns the text of an attribute; nil when it is empty.
    mutating func text(_ name: String) -> String? {
        rest.removeValue(forKey: name).flatMap { $0.isEmpty ? nil : $0 }
    }

    mutating func required(_ name: String) throws(CoreDataModelError) -> String {
        guard let text = text(name) else { throw failure("<\(node.name)> has no \(name)") }
        return text
    }

    mutating func flag(
        _ name: String,
        default missing: Bool = false
    ) throws(CoreDataModelError) -> Bool {
        guard let text = text(name) else { return missing }
        guard let flag = CoreDataValue.flag(text) else {
            throw failure("\(name) is \(text.prefix(60)), YES or NO is expected")
        }
        return flag
    }

    mutating func count(_ name: String) throws(CoreDataModelError) -> Int {
        guard let text = text(name) else { return 0 }
        guard let count = Int(text), count >= 0 else {
            throw failure("\(name) is \(text.prefix(60)), a number is expected")
        }
        return count
    }

    /// Returns a date from seconds since 2001.
    mutating func date(_ name: String) throws(CoreDataModelError) -> CoreDataValue? {
        guard let text = text(name) else { return nil }
        guard let seconds = Double(text), seconds.isFinite else {
            throw failure("\(name) is \(text.prefix(60)), seconds since 2001 are expected")
        }
        return .date(Date(timeIntervalSinceReferenceDate: seconds))
    }

    /// Returns a value of a type.
    mutating func value(
        _ name: String,
        as type: CoreDataModel.AttributeType
    ) throws(CoreDataModelError) -> CoreDataValue? {
        // An empty string is a value.
        if type == .string, let text = rest.removeValue(forKey: name) { return .string(text) }
        guard let text = text(name) else { return nil }
        guard let value = CoreDataValue(text, as: type) else {
            throw failure("\(name) is \(text.prefix(60)), not of type \(type.name)")
        }
        return value
    }

    /// Ignores attributes that have no meaning beside others.
    mutating func ignore(_ names: String...) {
        for name in names { rest[name] = nil }
    }
}
