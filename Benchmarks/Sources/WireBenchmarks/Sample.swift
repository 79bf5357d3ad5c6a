import CloudKitWire
import Foundation

/// Responses of a size and shape that apps receive.
enum Sample {
    /// Returns the response to a modify of notes with ten fields of mixed types each.
    static func response(records count: Int) -> RecordsResponse {
        RecordsResponse(
            records: (0..<count).map { .success(record($0)) },
            syncToken: "AQAAAAAAAAABf/////////+gT2nZvvBLf7GIZmbAwVqW"
        )
    }

    private static func record(_ index: Int) -> WireRecord {
        var record = WireRecord(
            recordName: "note-\(index)",
            recordType: "Note",
            recordChangeTag: "k\(index)",
            fields: fields(index),
            zoneID: WireZoneID(zoneName: "Notes")
        )
        let stamp = WireRecord.Stamp(
            timestamp: 1_760_000_000_000 + Int64(index),
            userRecordName: "_a1b2c3d4",
            deviceID: "device-\(index % 3)"
        )
        record.created = stamp
        record.modified = stamp
        record.deleted = false
        return record
    }

    private static func fields(_ index: Int) -> [String: WireField] {
        let tags = (0..<3).map { WireValue.string("tag-\($0)") }
        let text = String(repeating: "Plain text of an ordinary note. ", count: 5)
        return [
            "title": WireField(.string("Note number \(index)")),
            "text": WireField(.string(text)),
            "tags": WireField(.list(tags, of: .string)),
            "priority": WireField(.int64(Int64(index % 5))),
            "isDone": WireField(.int64(Int64(index % 2))),
            "progress": WireField(.double(Double(index) / 7)),
            "due": WireField(.timestamp(1_770_000_000_000 + Int64(index))),
            "checksum": WireField(.bytes(Data((0..<16).map { UInt8($0) }))),
            "place": WireField(.location(WireLocation(latitude: 52.5, longitude: 13.4))),
            "folder": WireField(.reference(WireReference(recordName: "folder-\(index % 10)"))),
        ]
    }
}
