import CloudKitWebClient
import Foundation

/// A modify request of new records with ten mixed fields, whose names a counter renews each time
/// without encoding it again.
struct NoteBatch: Sendable {
    private static let placeholder = "batch-00000000"

    let count: Int
    private let body: Data
    private let places: [Int]

    init(count: Int, zone: String = ServerBench.zone) {
        self.count = count
        let operations = (0..<count).map { index in
            RecordOperation(.create, Self.note("\(Self.placeholder)-\(index)", index))
        }
        let request = ModifyRecordsRequest(
            operations: operations,
            zoneID: WireZoneID(zoneName: zone),
            atomic: zone != WireZoneID.defaultZoneName
        )
        guard let body = try? WireJSON.encode(request) else {
            preconditionFailure("A request of strings and numbers can be encoded")
        }
        self.body = body
        let pattern = Data(Self.placeholder.utf8)
        var places: [Int] = []
        var rest = body[...]
        while let found = rest.range(of: pattern) {
            places.append(found.lowerBound)
            rest = rest[found.upperBound...]
        }
        self.places = places
    }

    /// Returns the request with unique names.
    func body(_ number: Int) -> Data {
        var body = body
        let name = Data(Self.name(number).utf8)
        for place in places { body.replaceSubrange(place..<place + name.count, with: name) }
        return body
    }

    /// Returns the common beginning of a batch's record names, of constant length.
    static func name(_ number: Int) -> String {
        let digits = String(number)
        return "batch-" + String(repeating: "0", count: 8 - digits.count) + digits
    }

    static func note(_ name: String, _ index: Int) -> WireRecord {
        var record = WireRecord(recordName: name, recordType: "Note")
        let values: [String: WireValue] = [
            "title": .string("Buy milk, number \(index)"),
            "body": .string(String(repeating: "Two litres, and bread. ", count: 8)),
            "count": .int64(Int64(index)),
            "rating": .double(Double(index) / 7),
            "done": .int64(index.isMultiple(of: 2) ? 1 : 0),
            "due": .timestamp(1_767_225_600_000 + Int64(index)),
            "color": .string("green"),
            "tags": .list([.string("home"), .string("shop")], of: .string),
            "place": .location(WireLocation(latitude: 51.5, longitude: -0.1)),
            "data": .bytes(Data(repeating: UInt8(truncatingIfNeeded: index), count: 64)),
        ]
        record.fields = values.mapValues { WireField($0) }
        return record
    }
}
