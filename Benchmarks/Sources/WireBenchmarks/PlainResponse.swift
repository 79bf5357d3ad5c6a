import CloudKitWire
import Foundation

/// The response with every field spelled out, as synthesised Codable reads and writes it.
struct PlainResponse: Codable, Equatable, Sendable {
    struct Record: Codable, Equatable, Sendable {
        struct Fields: Codable, Equatable, Sendable {
            var title: Field<String>
            var text: Field<String>
            var tags: Field<[String]>
            var priority: Field<Int64>
            var isDone: Field<Int64>
            var progress: Field<Double>
            var due: Field<Int64>
            var checksum: Field<Data>
            var place: Field<WireLocation>
            var folder: Field<WireReference>
        }

        var recordName: String
        var recordType: String
        var recordChangeTag: String
        var zoneID: WireZoneID
        var created: WireRecord.Stamp
        var modified: WireRecord.Stamp
        var deleted: Bool
        var fields: Fields
        var pluginFields: [String: String]
    }

    struct Field<Value: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
        var value: Value
        var type: String
    }

    var records: [Record]
    var syncToken: String
}
