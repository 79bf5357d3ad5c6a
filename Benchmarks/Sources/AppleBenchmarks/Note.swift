import CloudKit
import Foundation

/// A record of the size and shape that apps save: ten fields of mixed types.
enum Note {
    static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    /// Creates new records.
    static func records(_ range: Range<Int>, prefix: String = "note") -> [CKRecord] {
        range.map { index in
            let name = "\(prefix)-\(index)"
            let record = CKRecord(
                recordType: "Note",
                recordID: CKRecord.ID(recordName: name, zoneID: zoneID)
            )
            record["title"] = "Buy milk, number \(index)"
            record["body"] = "Two litres, and bread. And whatever else there is on the list."
            record["count"] = index
            record["rating"] = Double(index) / 7
            record["done"] = index.isMultiple(of: 2)
            record["due"] = Date(timeIntervalSince1970: 1_767_225_600 + Double(index))
            record["color"] = "green"
            record["tags"] = ["home", "shop"]
            record["place"] = CLLocation(latitude: 51.5, longitude: -0.1)
            record["data"] = Data(repeating: UInt8(truncatingIfNeeded: index), count: 64)
            return record
        }
    }
}

/// The service's response with every field spelled out, as synthesised Codable reads it.
struct PlainChanges: Decodable {
    struct Zone: Decodable {
        var records: [Record]
        var syncToken: String
        var moreComing: Bool?
    }

    struct Record: Decodable {
        var recordName: String
        var recordType: String
        var recordChangeTag: String
        var created: Stamp
        var modified: Stamp
        var fields: Fields
    }

    struct Stamp: Decodable {
        var timestamp: Int64
        var userRecordName: String
    }

    struct Fields: Decodable {
        var title: Field<String>
        var body: Field<String>
        var count: Field<Int64>
        var rating: Field<Double>
        var done: Field<Int64>
        var due: Field<Int64>
        var color: Field<String>
        var tags: Field<[String]>
        var place: Field<Place>
        var data: Field<Data>
    }

    struct Field<Value: Decodable>: Decodable {
        var value: Value
        var type: String
    }

    struct Place: Decodable {
        var latitude: Double
        var longitude: Double
    }

    var zones: [Zone]
}
