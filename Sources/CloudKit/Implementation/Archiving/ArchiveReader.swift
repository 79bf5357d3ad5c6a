import Foundation

/// Reads a keyed archive in place of Foundation's unarchiver.
///
/// Foundation's ends the process on a dangling or circular reference, an unexpected class and lists
/// of different lengths; here a value that cannot be read is nil.
final class ArchiveReader<Contents: ArchiveContents>: NSCoder {
    /// The number of objects within each other that no archive of the module reaches.
    private static var deepest: Int { 64 }

    private let contents: Contents
    /// The objects that are being read, with the archive's top or the outermost object first.
    private var path: [(place: Int?, container: Contents.Container)]
    /// The objects that have been read, because several references may lead to one.
    private var read: [Int: Any] = [:]

    init(_ contents: Contents) {
        self.contents = contents
        path = [(nil, contents.top)]
    }

    override var allowsKeyedCoding: Bool { true }
    override var requiresSecureCoding: Bool { true }

    private func value(_ key: String) -> ArchivedValue<Contents.Container>? {
        path.last.flatMap { contents.value(key, of: $0.container) }
    }

    override func containsValue(forKey key: String) -> Bool { value(key) != nil }

    override func decodeBool(forKey key: String) -> Bool { value(key)?.number?.boolValue ?? false }

    override func decodeInt64(forKey key: String) -> Int64 { value(key)?.number?.int64Value ?? 0 }

    override func decodeDouble(forKey key: String) -> Double {
        value(key)?.number?.doubleValue ?? 0
    }

    #if canImport(ObjectiveC)
    // The method that takes classes is not open there, and calls this one.
    override func decodeObject(forKey key: String) -> Any? { value(key).flatMap(target) }
    #else
    override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? {
        value(key).flatMap(target)
    }
    #endif

    /// Returns the object to which a value refers.
    private func target(_ value: ArchivedValue<Contents.Container>) -> Any? {
        if case .reference(let place) = value { object(place) } else { nil }
    }

    private func object(_ place: Int) -> Any? {
        if let known = read[place] { return known }
        guard path.count < Self.deepest, !path.contains(where: { $0.place == place }) else {
            return nil
        }
        let object: Any?
        switch contents.object(place) {
        case .text(let text): object = text == "$null" ? nil : text as NSString
        case .data(let data): object = data as NSData
        case .number(let number): object = number
        case .container(let container):
            path.append((place, container))
            object = instance(of: value("$class"))
            path.removeLast()
        case .references, .reference, nil: object = nil
        }
        read[place] = object
        return object
    }

    /// Creates an object of a class that the module's archives hold, from the container that was
    /// entered last.
    private func instance(of value: ArchivedValue<Contents.Container>?) -> Any? {
        guard case .reference(let place) = value,
            case .container(let description) = contents.object(place),
            let name = contents.value("$classname", of: description)?.text
        else { return nil }
        switch name {
        case "NSArray", "NSMutableArray": return list("NS.objects").map { $0 as NSArray }
        case "NSSet", "NSMutableSet":
            return hashables("NS.objects").map { Set($0) as NSSet }
        case "NSDictionary", "NSMutableDictionary": return dictionary()
        case "NSString", "NSMutableString":
            return self.value("NS.string")?.text.map { $0 as NSString }
        case "NSData", "NSMutableData": return self.value("NS.data")?.data.map { $0 as NSData }
        case "NSDate":
            return self.value("NS.time")?.number.map {
                NSDate(timeIntervalSinceReferenceDate: $0.doubleValue)
            }
        case "NSURL": return address()
        default: return contents.type(named: name).flatMap { $0.init(coder: self) }
        }
    }

    private func list(_ key: String) -> [Any]? {
        guard let references = value(key)?.references else { return nil }
        let items = references.compactMap(object)
        return items.count == references.count ? items : nil
    }

    private func hashables(_ key: String) -> [AnyHashable]? {
        list(key).flatMap { items in
            let found = items.compactMap { ($0 as? NSObject).map(AnyHashable.init) }
            return found.count == items.count ? found : nil
        }
    }

    private func dictionary() -> NSDictionary? {
        guard let keys = list("NS.keys") as? [NSString], let values = list("NS.objects"),
            keys.count == values.count
        else { return nil }
        let pairs = zip(keys.map { $0 as String }, values)
        return Dictionary(pairs) { $1 } as NSDictionary
    }

    private func address() -> NSURL? {
        guard let text = value("NS.relative").flatMap(target) as? NSString else { return nil }
        let base = value("NS.base").flatMap(target) as? NSURL
        // An NSURL may accept text that Swift's URL does not, which shows only when one is
        // converted to the other.
        return URL(string: text as String, relativeTo: base as URL?) as NSURL?
    }
}
