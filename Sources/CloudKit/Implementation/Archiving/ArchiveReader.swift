import Foundation

/// Reads a keyed archive in place of Foundation's unarchiver, from that one's current position.
///
/// Foundation's ends the process on a dangling or circular reference, an unexpected class and lists
/// of different lengths; here a value that cannot be read is nil. The unarchiver's parsed contents
/// are not public, and are found by name; if a Foundation stores them elsewhere, the unarchiver
/// itself reads.
final class ArchiveReader: NSCoder {
    private typealias Container = [AnyHashable: Any]

    private let unarchiver: NSKeyedUnarchiver
    /// The objects of the archive; references are indices of this array.
    private let objects: [Any]
    /// The objects that are being read, with the archive's top or the outermost object first.
    private var path: [(place: Int?, container: Container)]
    /// The objects that have been read, because several references may lead to one.
    private var read: [Int: Any] = [:]

    init?(_ unarchiver: NSKeyedUnarchiver) {
        let mirror = Mirror(reflecting: unarchiver)
        guard let objects = mirror.descendant("_objects") as? [Any],
            let containers = mirror.descendant("_containers", "some"),
            let last = Mirror(reflecting: containers).children.suffix(1).first?.value,
            let container = Mirror(reflecting: last).descendant("dict") as? [String: Any]
        else { return nil }
        self.unarchiver = unarchiver
        self.objects = objects
        path = [(nil, container)]
    }

    override var allowsKeyedCoding: Bool { true }
    override var requiresSecureCoding: Bool { true }

    private func value(_ key: String) -> Any? { path.last?.container[key] }

    override func containsValue(forKey key: String) -> Bool { value(key) != nil }

    override func decodeBool(forKey key: String) -> Bool {
        (value(key) as? NSNumber)?.boolValue ?? false
    }

    override func decodeInt64(forKey key: String) -> Int64 {
        (value(key) as? NSNumber)?.int64Value ?? 0
    }

    override func decodeDouble(forKey key: String) -> Double {
        (value(key) as? NSNumber)?.doubleValue ?? 0
    }

    #if canImport(ObjectiveC)
    // The method that takes classes is not open there, and calls this one.
    override func decodeObject(forKey key: String) -> Any? { value(key).flatMap(object) }
    #else
    override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? {
        value(key).flatMap(object)
    }
    #endif

    /// Returns the target of a reference.
    private func object(_ reference: Any) -> Any? {
        guard let place = Self.place(reference), objects.indices.contains(place) else { return nil }
        if let known = read[place] { return known }
        guard !path.contains(where: { $0.place == place }) else { return nil }
        let object: Any?
        switch objects[place] {
        case let string as String: object = string == "$null" ? nil : string as NSString
        case let data as Data: object = data as NSData
        case let container as Container:
            path.append((place, container))
            object = instance(of: container["$class"])
            path.removeLast()
        case let number as NSNumber: object = number
        default: object = nil
        }
        read[place] = object
        return object
    }

    private static func place(_ reference: Any) -> Int? {
        (Mirror(reflecting: reference).descendant("value") as? UInt32).map(Int.init)
    }

    /// Creates an object of a class that the module's archives hold, from the container that was
    /// entered last.
    private func instance(of reference: Any?) -> Any? {
        guard let place = reference.flatMap(Self.place), objects.indices.contains(place),
            let description = objects[place] as? Container,
            let name = description["$classname"] as? String
        else { return nil }
        switch name {
        case "NSArray", "NSMutableArray": return list("NS.objects").map { $0 as NSArray }
        case "NSSet", "NSMutableSet":
            return hashables("NS.objects").map { Set($0) as NSSet }
        case "NSDictionary", "NSMutableDictionary": return dictionary()
        case "NSString", "NSMutableString": return (value("NS.string") as? String) as NSString?
        case "NSData", "NSMutableData": return (value("NS.data") as? Data) as NSData?
        case "NSDate":
            return (value("NS.time") as? NSNumber).map {
                NSDate(timeIntervalSinceReferenceDate: $0.doubleValue)
            }
        case "NSURL": return address()
        default:
            return ArchiveNames.type(named: name, in: unarchiver).flatMap { $0.init(coder: self) }
        }
    }

    private func list(_ key: String) -> [Any]? {
        guard let references = value(key) as? [Any] else { return nil }
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
        guard let text = value("NS.relative").flatMap(object) as? NSString else { return nil }
        let base = value("NS.base").flatMap(object) as? NSURL
        // An NSURL may accept text that Swift's URL does not, which shows only when one is
        // converted to the other.
        return URL(string: text as String, relativeTo: base as URL?) as NSURL?
    }
}
