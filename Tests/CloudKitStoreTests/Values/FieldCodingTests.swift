import CloudKitStore
import Foundation
import Support
import Testing

@Suite("Fields as the control tables keep them")
struct FieldCodingTests {
    private static func value(_ chance: inout SeededRandom, depth: Int = 0) -> StoreValue {
        switch Int.random(in: 0...(depth == 0 ? 10 : 8), using: &chance) {
        case 0: .null
        case 1: .integer(.random(in: .min ... .max, using: &chance))
        case 2: .real(.random(in: -1e300...1e300, using: &chance))
        case 3: .text(String(repeating: "é", count: .random(in: 0...200, using: &chance)))
        case 4: .bytes(Data(repeating: 7, count: .random(in: 0...300, using: &chance)))
        case 5: .date(milliseconds: .random(in: .min ... .max, using: &chance))
        case 6: .reference("note:\(Int.random(in: 0...99, using: &chance))")
        case 7: .location(latitude: -0.0, longitude: 180)
        case 8: .asset(AssetDigest(Data([1, 2, 3])))
        case 9: .written(.date(milliseconds: 7), as: "t1970-01-01")
        default:
            .list(
                (0..<Int.random(in: 0...3, using: &chance)).map { _ in
                    value(&chance, depth: depth + 1)
                }
            )
        }
    }

    private static func fields(_ chance: inout SeededRandom) -> [String: StoreValue] {
        var fields: [String: StoreValue] = [:]
        for name in ["a", "b", "ba", "c", "title", "storeStamp", "!secret", "é"]
        where Bool.random(using: &chance) {
            fields[name] = value(&chance)
        }
        return fields
    }

    @Test("They are read as they were written, all of them or those that are asked for")
    func roundTrip() throws {
        var chance = SeededRandom(seed: 3)
        for _ in 0..<1_000 {
            let fields = Self.fields(&chance)
            let data = FieldCoding.data(fields)
            #expect(try FieldCoding.fields(data) == fields)
            let some = try FieldCoding.fields(data) { $0 < "c" }
            #expect(some == fields.filter { $0.key < "c" })
        }
    }

    @Test("To set some in the bytes is to set them in the fields")
    func setting() throws {
        var chance = SeededRandom(seed: 4)
        for _ in 0..<1_000 {
            let (fields, changes) = (Self.fields(&chance), Self.fields(&chance))
            let set = try FieldCoding.data(
                FieldCoding.data(fields),
                setting: FieldCoding.data(changes)
            )
            #expect(set == FieldCoding.data(fields.merging(changes) { $1 }))
        }
    }

    @Test("Bytes that are cut short or wrong are an error or other fields, never the end")
    func broken() {
        var chance = SeededRandom(seed: 5)
        for _ in 0..<2_000 {
            var data = FieldCoding.data(Self.fields(&chance))
            if Bool.random(using: &chance) {
                data = data.prefix(.random(in: 0...data.count, using: &chance))
            }
            if let place = data.indices.randomElement(using: &chance) {
                data[place] = .random(in: 0...255, using: &chance)
            }
            _ = try? FieldCoding.fields(data)
            _ = try? FieldCoding.data(data, setting: FieldCoding.data(["b": .integer(1)]))
        }
        #expect(throws: (any Error).self) { try FieldCoding.fields(Data()) }
        #expect(throws: (any Error).self) { try FieldCoding.fields(Data([1, 1])) }
    }
}
