import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes stored records into an answer.
///
/// The stored form of the fields is copied as it is where the answer shows all of them; only a
/// selection, numbers as strings or download URLs need them taken apart.
struct RecordAnswer {
    /// The zone of the records.
    let zone: ZoneView
    /// Whether the zone's identity is written into each record.
    let namesZone: Bool
    /// Whether INT64 and DOUBLE values are written as strings.
    let numbersAsStrings: Bool
    /// Whether a tombstone says which type the record had.
    let namesTypeOfTombstones: Bool
    /// Makes the download URLs.
    let links: AssetLinks
    /// Takes note of damaged records.
    let work: RequestWork
    /// The user record name of the caller; nil for nobody.
    var caller: String?

    /// The device that every stamp names; REST clients have none of their own.
    private static let deviceID = "2"

    /// Writes a live record.
    func write(
        _ record: StoredRecord,
        desiredKeys: [String]?,
        to writer: inout JSONWriter
    ) throws {
        guard !record.isDamaged else {
            work.noteDamage(of: record)
            let error = RecordFailure.damaged(record.name)
            writer.itemError(error.item(record.name, zone: namesZone ? zone.id : nil))
            return
        }
        writer.openObject()
        writer.member("recordName", record.name)
        writer.member("recordType", record.type)
        writer.key("fields")
        try writeFields(of: record, desiredKeys: desiredKeys, to: &writer)
        writer.key("pluginFields")
        writer.openObject()
        writer.closeObject()
        writer.member("recordChangeTag", ChangeTag.text(record.sequence))
        write(record.created, "created", to: &writer)
        write(record.modified, "modified", to: &writer)
        writer.member("deleted", false)
        writeReference("parent", record.parent, to: &writer)
        writeReference("share", record.share, to: &writer)
        if let part = try record.sharePart {
            try part.write(caller: caller, to: &writer)
        } else {
            writer.member("shortGUID", record.rootPart?.shortGUID)
        }
        writeZone(to: &writer)
        writer.closeObject()
    }

    /// Writes what is left of a deleted record.
    func writeTombstone(_ name: String, type: String?, to writer: inout JSONWriter) {
        writer.openObject()
        writer.member("recordName", name)
        if namesTypeOfTombstones { writer.member("recordType", type) }
        writer.member("deleted", true)
        writeZone(to: &writer)
        writer.closeObject()
    }

    private func writeFields(
        of record: StoredRecord,
        desiredKeys: [String]?,
        to writer: inout JSONWriter
    ) throws {
        if desiredKeys == nil, !numbersAsStrings, !record.hasAssets {
            writer.json(record.fields)
            return
        }
        var fields = try RecordFields(stored: record.fields).fields
        if let desiredKeys {
            guard desiredKeys.count <= RequestBudget.namesLimit else {
                throw RequestError(
                    .badRequest,
                    reason: "The request has \(desiredKeys.count) desiredKeys; at most "
                        + "\(RequestBudget.namesLimit) are allowed"
                )
            }
            let wanted = Set(desiredKeys)
            fields = fields.filter { wanted.contains($0.key) }
        }
        if record.hasAssets { fields = fields.mapValues { links.adding(to: $0) } }
        writer.fields(fields, numbersAsStrings: numbersAsStrings)
    }

    private func write(
        _ stamp: StoredRecord.Stamp,
        _ key: String,
        to writer: inout JSONWriter
    ) {
        writer.key(key)
        writer.openObject()
        writer.member("timestamp", stamp.milliseconds)
        writer.member("userRecordName", stamp.user)
        writer.member("deviceID", Self.deviceID)
        writer.closeObject()
    }

    private func writeReference(_ key: String, _ name: String?, to writer: inout JSONWriter) {
        guard let name else { return }
        writer.key(key)
        writer.openObject()
        writer.member("recordName", name)
        writer.closeObject()
    }

    private func writeZone(to writer: inout JSONWriter) {
        guard namesZone else { return }
        writer.key("zoneID")
        writer.zoneID(zone.id)
    }
}
