import CloudKitBasics
import Foundation

/// The parsed objects of a keyed archive.
protocol ArchiveContents {
    /// The values of an object by key.
    associatedtype Container

    /// The archive's top, in which reading begins.
    var top: Container { get }

    /// Returns a container's value for a key; nil if there is none.
    func value(_ key: String, of container: Container) -> ArchivedValue<Container>?

    /// Returns an object by its number, to which references lead; nil if there is none.
    func object(_ number: Int) -> ArchivedValue<Container>?

    /// Returns the class, of those that the module's archives hold, under a name in the archive.
    func type(named name: String) -> (any (NSObject & NSCoding).Type)?
}

/// A value in a keyed archive, in the form in which property lists hold it.
enum ArchivedValue<Container> {
    case text(String)
    case data(Data)
    case number(NSNumber)
    case container(Container)
    /// The numbers of objects.
    case references([Int])
    /// The number of an object.
    case reference(Int)

    var number: NSNumber? {
        if case .number(let number) = self { number } else { nil }
    }

    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    var data: Data? {
        if case .data(let data) = self { data } else { nil }
    }

    var references: [Int]? {
        if case .references(let numbers) = self { numbers } else { nil }
    }
}

/// The objects that Foundation's unarchiver has parsed, read from its current position.
///
/// They are not public, and are found by name.
struct UnarchiverContents: ArchiveContents {
    typealias Container = [AnyHashable: Any]

    private let unarchiver: NSKeyedUnarchiver
    private let objects: [Any]
    let top: Container

    /// Finds an unarchiver's objects; nil if this Foundation stores them elsewhere.
    init?(_ unarchiver: NSKeyedUnarchiver) {
        let mirror = Mirror(reflecting: unarchiver)
        guard let objects = mirror.descendant("_objects") as? [Any],
            let containers = mirror.descendant("_containers", "some"),
            let last = Mirror(reflecting: containers).children.suffix(1).first?.value,
            let container = Mirror(reflecting: last).descendant("dict") as? [String: Any]
        else { return nil }
        self.unarchiver = unarchiver
        self.objects = objects
        top = container
    }

    func value(_ key: String, of container: Container) -> ArchivedValue<Container>? {
        container[key].flatMap(Self.value)
    }

    func object(_ number: Int) -> ArchivedValue<Container>? {
        objects.indices.contains(number) ? Self.value(objects[number]) : nil
    }

    func type(named name: String) -> (any (NSObject & NSCoding).Type)? {
        ArchiveNames.type(named: name, renamed: unarchiver.class(forClassName: name))
    }

    private static func value(_ value: Any) -> ArchivedValue<Container>? {
        switch value {
        case let string as String: return .text(string)
        case let data as Data: return .data(data)
        case let container as Container: return .container(container)
        case let number as NSNumber: return .number(number)
        case let list as [Any]:
            let numbers = list.compactMap(reference)
            return numbers.count == list.count ? .references(numbers) : nil
        default: return reference(value).map(ArchivedValue.reference)
        }
    }

    private static func reference(_ value: Any) -> Int? {
        (Mirror(reflecting: value).descendant("value") as? UInt32).map(Int.init)
    }
}

/// The objects of an archive's own bytes.
///
/// Foundation's unarchiver takes ten times as long to read the system fields of a record.
struct ArchiveBytes: ArchiveContents {
    typealias Container = [BinaryPropertyList.Pair]

    private let list: BinaryPropertyList
    /// The objects' numbers in the list.
    private let objects: [Int]
    let top: Container

    /// Parses an archive; nil if the bytes are none, or one as XML, which Foundation reads.
    init?(_ data: Data) {
        // The bytes of something else have no list.
        guard let list = try? BinaryPropertyList(Array(data)),
            case .dictionary(let parts)? = Self.object(list.top, list),
            let objects = Self.place("$objects", parts, list),
            let top = Self.place("$top", parts, list),
            case .array(let numbers)? = Self.object(objects, list),
            case .dictionary(let container)? = Self.object(top, list)
        else { return nil }
        self.list = list
        self.objects = numbers
        self.top = container
    }

    private static func object(
        _ place: Int,
        _ list: BinaryPropertyList
    ) -> BinaryPropertyList.Object? {
        // A damaged object has no value.
        try? list.object(place)
    }

    private static func place(
        _ key: String,
        _ container: Container,
        _ list: BinaryPropertyList
    ) -> Int? {
        container.first { list.isText($0.key, key) }?.value
    }

    func value(_ key: String, of container: Container) -> ArchivedValue<Container>? {
        Self.place(key, container, list).flatMap(value)
    }

    func object(_ number: Int) -> ArchivedValue<Container>? {
        objects.indices.contains(number) ? value(objects[number]) : nil
    }

    func type(named name: String) -> (any (NSObject & NSCoding).Type)? {
        ArchiveNames.type(named: name, renamed: nil)
    }

    private func value(_ place: Int) -> ArchivedValue<Container>? {
        switch Self.object(place, list) {
        case .string(let text): return .text(text)
        case .data(let bytes): return .data(Data(bytes))
        case .dictionary(let pairs): return .container(pairs)
        case .boolean(let flag): return .number(NSNumber(value: flag))
        case .integer(let integer): return .number(NSNumber(value: integer))
        case .real(let real): return .number(NSNumber(value: real))
        case .reference(let number): return .reference(number)
        case .array(let places):
            let numbers = places.compactMap { place -> Int? in
                guard case .reference(let number)? = Self.object(place, list) else { return nil }
                return number
            }
            return numbers.count == places.count ? .references(numbers) : nil
        case .null, .date, nil: return nil
        }
    }
}
