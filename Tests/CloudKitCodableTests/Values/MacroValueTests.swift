#if Macros
import CloudKit
import CloudKitCodable
import Foundation
import Testing

/// The first version of a model, and a later one with more properties.
@CloudKitRecord("Recipe")
struct OldRecipe: Identifiable {
    var id: String
}

typealias MaybeCount = Int?

@CloudKitRecord("Recipe")
struct NewRecipe: Equatable, Identifiable {
    var id: String
    var title = "Untitled"
    var servings: Int = 4
    var tags: [String] = ["new"]
    var made = Date(timeIntervalSince1970: 5)
    var figure = Figure(name: "none", sides: [])
    @CloudKitField("lvl") var level: Priority = .high
    @CloudKitField(.encrypted) var secret = "unknown"
    @CloudKitField(.asset) var scan = Data([1])
    @CloudKitField(.json) var loose: [String] = ["a"]
    @CloudKitField(.children(via: "recipe")) var parts: [OldRecipe.Part] = [.init(id: "default")]
    @CloudKitValue var places: [CLLocation] = []
    var count: MaybeCount = 3
    var note: String? = "none"
}

extension OldRecipe {
    struct Part: CloudKitModel, Equatable, Identifiable {
        var id: String
    }
}

/// A type with its own coding.
@CloudKitRecord
struct Shouted: Identifiable, Equatable {
    var id: String
    var text: String
    var count = 1

    init(id: String, text: String) {
        self.id = id
        self.text = text
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        text = try container.decode(String.self, forKey: .text).lowercased()
        count = try container.decodeIfPresent(Int.self, forKey: .count) ?? 9
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(text.uppercased(), forKey: .text)
    }
}

@CloudKitRecord
final class Whisper: Identifiable {
    let id: String
    var text: String

    init(id: String, text: String) {
        self.id = id
        self.text = text
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(text.lowercased(), forKey: .text)
    }
}

@CloudKitRecord
struct Doubt: Identifiable, Equatable {
    var id: String
    var count: Int??
}

@Suite("Values of mapped models")
struct MacroValueTests {
    @Test("A record of an older version leaves the values of the declaration in place")
    func defaults() throws {
        let old = try CloudKitRecordEncoder().encode(OldRecipe(id: "soup"))
        var expected = NewRecipe(id: "soup")
        // For optionals, nil is a value, which a record stores as an absent field.
        expected.count = nil
        expected.note = nil
        // In a graph, a list of children consists of the records that refer to the owner, even if
        // empty.
        expected.parts = []
        let loaded = try CloudKitGraphDecoder().decode(
            NewRecipe.self,
            from: [old],
            root: old.recordID
        )
        #expect(loaded == expected)
    }

    @Test("Without the macro it is what decodeIfPresent says")
    func byHand() throws {
        struct Recipe: CloudKitModel {
            var id: String
            var servings: Int
            var parts: [Leaf]
            var recordName: String { id }
            static var fields: CloudKitFields { [CodingKeys.parts: .children(via: "recipe")] }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                id = try container.decode(String.self, forKey: .id)
                servings = try container.decodeIfPresent(Int.self, forKey: .servings) ?? 4
                parts = try container.decodeIfPresent([Leaf].self, forKey: .parts) ?? []
            }
        }
        let old = try CloudKitRecordEncoder().encode(OldRecipe(id: "soup"))
        let read = try CloudKitGraphDecoder().decode(
            Recipe.self,
            from: [old],
            root: old.recordID
        )
        #expect(read.servings == 4 && read.parts.isEmpty)
    }

    @Test("A null within an optional is refused by a mapping too")
    func nullWithinOptional() throws {
        let error = #expect(throws: EncodingError.self) {
            try CloudKitRecordEncoder().encode(Doubt(id: "1", count: .some(nil)))
        }
        guard case .invalidValue(_, let context)? = error else { return }
        #expect(context.codingPath.map(\.stringValue) == ["count"])
        #expect(context.debugDescription.contains("make it nil"))
        for count in [nil, 5] as [Int??] {
            let record = try CloudKitRecordEncoder().encode(Doubt(id: "1", count: count))
            let read = try CloudKitRecordDecoder().decode(Doubt.self, from: record)
            #expect(read.count == count)
        }
    }

    @Test("init(from:) and encode(to:) of the declaration are used")
    func codedByHand() throws {
        let value = Shouted(id: "1", text: "Hey")
        let known = try CloudKitRecordEncoder().encode(value)
        let unknown: any Encodable = value
        let graph = try CloudKitGraphEncoder(zoneID: .default).encode(value)
        for record in [known, try CloudKitRecordEncoder().encode(unknown), graph.records[0]] {
            #expect(record["text"] == "HEY")
            let read = try CloudKitRecordDecoder().decode(Shouted.self, from: record)
            #expect(read.text == "hey" && read.count == 9)
        }
        let whisper = try CloudKitRecordEncoder().encode(Whisper(id: "1", text: "Hey"))
        #expect(whisper["text"] == "hey")
        #expect(try CloudKitRecordDecoder().decode(Whisper.self, from: whisper).text == "hey")
    }
}
#endif
