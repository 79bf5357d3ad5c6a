import CloudKitBasics
import Foundation

/// A keyed archive, whose objects are read by class names and keys.
///
/// No class is looked up or instantiated. Each step is counted, because a small archive may refer
/// to one object from a million places.
struct KeyedArchive {
    /// An object with a class.
    struct Instance {
        var className: String
        /// Its values by key, as object numbers of the property list.
        var fields: [String: Int]
    }

    /// A hundred times the steps of the largest known models.
    static let allSteps = 4_000_000

    private let list: BinaryPropertyList
    private let objects: [Int]
    private let heads: [String: Int]
    private var stepsLeft = Self.allSteps

    init(_ data: Data) throws(CoreDataModelError) {
        list = try BinaryPropertyList(data)
        guard case .dictionary(let pairs) = try list.content(list.top), pairs.count < 100 else {
            throw BinaryPropertyList.failure("it is not a keyed archive")
        }
        var top: [String: Int] = [:]
        for pair in pairs {
            if case .string(let key) = try list.content(pair.key) { top[key] = pair.value }
        }
        guard let objects = top["$objects"], let heads = top["$top"],
            case .array(let places) = try list.content(objects),
            case .dictionary(let named) = try list.content(heads), named.count < 100
        else { throw BinaryPropertyList.failure("it is not a keyed archive") }
        self.objects = places
        var found: [String: Int] = [:]
        for pair in named {
            if case .string(let key) = try list.content(pair.key) { found[key] = pair.value }
        }
        self.heads = found
    }

    /// Returns the root object of the archive.
    mutating func root() throws(CoreDataModelError) -> Instance {
        guard let place = heads["root"] ?? heads.values.min(), let root = try instance(place) else {
            throw BinaryPropertyList.failure("it holds no object")
        }
        return root
    }

    // MARK: Steps

    private mutating func step(_ count: Int = 1) throws(CoreDataModelError) {
        stepsLeft -= count
        guard stepsLeft >= 0 else {
            throw CoreDataModelError(
                .tooLarge,
                "the archive",
                "reading it takes more than \(Self.allSteps) steps"
            )
        }
    }

    /// Returns the object at a position, behind a reference if it is one; nil for `$null`.
    private mutating func object(
        _ place: Int
    ) throws(CoreDataModelError) -> BinaryPropertyList.Object? {
        try step()
        var found = try list.content(place)
        if case .reference(let number) = found {
            guard objects.indices.contains(number) else {
                throw BinaryPropertyList.failure(
                    "it refers to object \(number) of \(objects.count)"
                )
            }
            // The first object represents nil.
            if number == 0 { return nil }
            found = try list.content(objects[number])
        }
        switch found {
        case .null: return nil
        case .string(let text): try step(text.utf8.count / 64)
        case .data(let data): try step(data.count / 64)
        case .array(let items): try step(items.count)
        case .dictionary(let pairs): try step(pairs.count)
        default: break
        }
        return found
    }

    // MARK: Values

    /// Returns the object at a position; nil when it has no class.
    mutating func instance(_ place: Int) throws(CoreDataModelError) -> Instance? {
        guard case .dictionary(let pairs) = try object(place) else { return nil }
        var fields: [String: Int] = [:]
        for pair in pairs {
            guard case .string(let key) = try list.content(pair.key) else { continue }
            try step(key.utf8.count / 64)
            fields[key] = pair.value
        }
        guard let described = fields.removeValue(forKey: "$class"),
            case .dictionary(let description) = try object(described)
        else { return nil }
        for pair in description {
            guard case .string("$classname") = try list.content(pair.key),
                case .string(let name) = try list.content(pair.value)
            else { continue }
            return Instance(className: name, fields: fields)
        }
        return nil
    }

    /// Returns the text at a position; nil when there is none.
    mutating func text(_ place: Int?) throws(CoreDataModelError) -> String? {
        guard let place else { return nil }
        switch try object(place) {
        case .string(let text): return text
        case .dictionary:
            guard let instance = try instance(place), let text = instance.fields["NS.string"],
                case .string(let content) = try object(text)
            else { return nil }
            return content
        default: return nil
        }
    }

    /// Returns the number at a position, with Booleans as 0 and 1; nil when there is none.
    mutating func integer(_ place: Int?) throws(CoreDataModelError) -> Int64? {
        guard let place else { return nil }
        switch try object(place) {
        case .integer(let number): return number
        case .boolean(let flag): return flag ? 1 : 0
        case .real(let number): return Int64(exactly: number)
        default: return nil
        }
    }

    /// Returns the Boolean at a position; nil when there is none.
    mutating func flag(_ place: Int?) throws(CoreDataModelError) -> Bool? {
        try integer(place).map { $0 != 0 }
    }

    /// Returns the object at a position as a plain value; nil when it has a class.
    mutating func plain(_ place: Int) throws(CoreDataModelError) -> CoreDataValue? {
        switch try object(place) {
        case .boolean(let flag): .boolean(flag)
        case .integer(let number): .integer(number)
        case .real(let number): .double(number)
        case .date(let seconds): .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let bytes): .bytes(Data(bytes))
        case .string(let text): .string(text)
        case .null, .reference, .array, .dictionary, nil: nil
        }
    }

    /// Returns the bytes at a position.
    mutating func data(_ place: Int?) throws(CoreDataModelError) -> Data? {
        guard let place else { return nil }
        switch try object(place) {
        case .data(let bytes): return Data(bytes)
        case .dictionary:
            guard let instance = try instance(place), let data = instance.fields["NS.data"],
                case .data(let content) = try object(data)
            else { return nil }
            return Data(content)
        default: return nil
        }
    }

    /// Returns the positions of the elements of a list or a set; nil when there is none.
    mutating func list(_ place: Int?) throws(CoreDataModelError) -> [Int]? {
        guard let place, let instance = try instance(place),
            let items = instance.fields["NS.objects"], instance.fields["NS.keys"] == nil
        else { return nil }
        return try array(items)
    }

    private mutating func array(_ place: Int) throws(CoreDataModelError) -> [Int]? {
        guard case .array(let items) = try object(place) else { return nil }
        return items
    }

    /// Returns the entries of a dictionary, in either form that Core Data writes; nil when there is none.
    mutating func dictionary(
        _ place: Int?
    ) throws(CoreDataModelError) -> [(key: String, value: Int)]? {
        guard let place, let instance = try instance(place) else { return nil }
        let keys: [Int]?
        let values: [Int]?
        if let mapping = instance.fields["searchMapping"] ?? instance.fields["NS.searchMapping"] {
            let known = try self.instance(mapping)
            keys = try items(known?.fields["keys"] ?? known?.fields["NS.keys"])
            values = try items(instance.fields["values"] ?? instance.fields["NS.values"])
        } else {
            keys = try items(instance.fields["NS.keys"])
            values = try items(instance.fields["NS.objects"])
        }
        guard let keys, let values else { return nil }
        guard keys.count == values.count else {
            throw BinaryPropertyList.failure(
                "a dictionary has \(keys.count) keys and \(values.count) values"
            )
        }
        var entries: [(key: String, value: Int)] = []
        for (key, value) in zip(keys, values) {
            if let key = try text(key) { entries.append((key, value)) }
        }
        return entries
    }

    /// Returns the elements of a plain array, or of an array object.
    private mutating func items(_ place: Int?) throws(CoreDataModelError) -> [Int]? {
        guard let place else { return nil }
        if case .array(let items) = try object(place) { return items }
        return try list(place)
    }
}
