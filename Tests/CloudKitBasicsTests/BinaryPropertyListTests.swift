import CloudKitBasics
import Foundation
import Testing

@Suite("Binary property lists")
struct BinaryPropertyListTests {
    private typealias Object = BinaryPropertyList.Object

    private static let scalars: [Object] =
        [.boolean(true), .boolean(false), .data([]), .data(Array(0...255))]
        + [0, 1, 255, 256, 65_535, 65_536, 4_294_967_296, .max, -1, .min].map(Object.integer)
        + [0, -1.5, .infinity, .greatestFiniteMagnitude].flatMap { [.real($0), .date($0)] }
        + ["", "a", "15 characters !", "ä", "🐟\u{0}", String(repeating: "x", count: 70_000)]
        .map(Object.string)

    /// Returns a list that holds an array of objects, and itself.
    private static func array(of objects: [Object]) throws -> (BinaryPropertyList, Data) {
        var writer = BinaryPropertyListWriter()
        let numbers = objects.map { writer.add($0) }
        let top = writer.add(.array(numbers))
        let bytes = writer.bytes(top: top)
        return (try BinaryPropertyList(bytes), Data(bytes))
    }

    private static func elements(_ list: BinaryPropertyList) throws -> [Object] {
        guard case .array(let numbers) = try list.object(list.top) else { return [] }
        return try numbers.map { try list.object($0) }
    }

    @Test("Every object is read as it was written")
    func roundTrip() throws {
        let objects = Self.scalars + [0, 255, 256, 70_000].map(Object.reference)
        #expect(try Self.elements(Self.array(of: objects).0) == objects)
    }

    @Test("Foundation reads every object as it was written", arguments: scalars)
    func foundation(object: BinaryPropertyList.Object) throws {
        let data = try Self.array(of: [object]).1
        let read = try PropertyListSerialization.propertyList(from: data, format: nil)
        let first = try #require((read as? [Any])?.first)
        switch object {
        case .boolean(let flag): #expect(first as? Bool == flag)
        case .data(let bytes): #expect(first as? Data == Data(bytes))
        case .integer(let integer): #expect((first as? NSNumber)?.int64Value == integer)
        case .real(let real): #expect((first as? NSNumber)?.doubleValue == real)
        case .date(let seconds):
            #expect((first as? Date)?.timeIntervalSinceReferenceDate == seconds)
        case .string(let text): #expect(first as? String == text)
        case .null, .reference, .array, .dictionary: Issue.record("not a scalar")
        }
    }

    @Test("Numbers of objects take one, two or four bytes", arguments: [10, 255, 256, 70_000])
    func manyObjects(count: Int) throws {
        let objects = (0..<count).map { Object.integer(Int64($0)) }
        #expect(try Self.elements(Self.array(of: objects).0) == objects)
    }

    @Test("A text is compared without being created, whatever its length")
    func texts() throws {
        let list = try Self.array(of: Self.scalars).0
        for (number, object) in Self.scalars.enumerated() {
            guard case .string(let text) = object else { continue }
            #expect(list.isText(number, text) == text.utf8.allSatisfy { $0 < 0x80 })
            #expect(!list.isText(number, text + "x"))
        }
        #expect(!list.isText(-1, "a") && !list.isText(list.count, "a") && !list.isText(0, ""))
    }

    @Test("Equal texts and references are stored once")
    func uniqueness() throws {
        let list = try Self.array(of: [.string("a"), .reference(1), .string("a"), .reference(1)]).0
        #expect(list.count == 3)
    }
}
