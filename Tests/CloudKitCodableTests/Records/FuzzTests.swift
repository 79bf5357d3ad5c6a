import CloudKit
import CloudKitCodable
import Foundation
import Testing

@Suite("Random records")
struct FuzzTests {
    /// A type, its record type and the names of its fields.
    struct Subject: Sendable {
        let type: any (Codable & SendableMetatype).Type
        let recordType: String
        let keys: [String]

        init(_ type: any (Codable & SendableMetatype).Type) {
            self.type = type
            let model = type as? any CloudKitModel.Type
            recordType = model?.recordType ?? "Any"
            let schema = model.flatMap { model in
                model == Everything.self
                    ? try? CloudKitSchema(describing: [Everything()])
                    : try? CloudKitSchema(of: model)
            }
            keys =
                (schema?.recordTypes.first?.fields.map(\.name) ?? [])
                + ["name", "age", "size", "level", "plain", "keys", "themes", "names", "value"]
        }
    }

    static let subjects: [Subject] = [
        Subject(Everything.self), Subject(Person.self), Subject(Atlas.self), Subject(Country.self),
        Subject(TimeZoneEntry.self), Subject(Album.self), Subject(DropInTests.Enums.self),
        Subject(DropInTests.Lists.self), Subject(DropInTests.Document.self),
        Subject(ShapeTests.Nested.self), Subject(ShapeTests.Pet.self), Subject([Int].self),
        Subject(String.self), Subject(Theme?.self), Subject([String: Int].self),
        Subject([Colour: Theme].self), Subject(Set<Tag>.self), Subject(Shape.self),
        Subject(SameNameTests.Mark.self),
    ]

    /// The number of cases for each seed; with the seeds some twelve thousand.
    static let rounds = 64

    @Test("Random records never crash a decoder of any type", arguments: 0..<10)
    func decoding(seed: UInt64) throws {
        var generator = Generator(seed: seed + 1)
        var decoded = 0
        var refused = 0
        for _ in 0..<Self.rounds {
            for subject in Self.subjects {
                let records = (0..<4).map { index in
                    CKRecord(
                        recordType: subject.recordType,
                        recordID: CKRecord.ID(recordName: "r\(index)")
                    )
                }
                for record in records {
                    for key in subject.keys where Bool.random(using: &generator) {
                        record.setObject(generator.value(), forKey: key)
                    }
                }
                if Self.roundTrip(subject.type, records[0]) { decoded += 1 } else { refused += 1 }
                Self.decodeGraph(subject.type, records)
            }
        }
        #expect(decoded + refused == Self.rounds * Self.subjects.count)
        // A fuzzer that sees only one outcome tests nothing.
        #expect(decoded > 0 && refused > 0)
    }

    /// Decodes a record in every way, and encodes the results.
    private static func roundTrip(_ type: any Codable.Type, _ record: CKRecord) -> Bool {
        let errors = CloudKitRecordDecoder().errors(decoding: type, from: record)
        guard let value = try? CloudKitRecordDecoder().decode(type, from: record) else {
            #expect(!errors.isEmpty, "\(type) is refused without an error")
            return false
        }
        #expect(errors.isEmpty, "\(type) decodes and has errors: \(errors)")
        for forms in [CloudKitRecordForms.original, .native] {
            let encoder = CloudKitRecordEncoder()
            encoder.forms = forms
            _ = try? encoder.encode(value)
            _ = try? encoder.encode(value, onto: record)
        }
        return true
    }

    private static func decodeGraph(_ type: any Codable.Type, _ records: [CKRecord]) {
        guard let model = type as? any CloudKitModel.Type else { return }
        for missing in [MissingRecords.fail, .omit] {
            _ = try? CloudKitGraphDecoder(missingRecords: missing).decode(
                model,
                from: records,
                root: records[0].recordID
            )
        }
    }
}
