import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes stored records into a response.
///
/// The stored form of the fields is copied unchanged if the response has all of them; only a
/// selection, numbers as strings or download URLs require decoding them.
struct RecordResponseWriter {
    /// The zone of the records.
    let zone: ZoneView
    /// `true` when the zone's ID is written into each record.
    let namesZone: Bool
    /// `true` when INT64 and DOUBLE values are written as strings.
    let numbersAsStrings: Bool
    /// `true` when a tombstone includes the record's type.
    let namesTypeOfTombstones: Bool
    /// The source of download URLs.
    let links: AssetLinks
    /// The receiver of reports about damaged records.
    let work: RequestWork
    /// The caller's user record name; nil without a user.
    var caller: String?

    private typealias Key = WireRecord.CodingKeys

    /// The device in every system date; REST clients have none of their own.
    private static let deviceID = "2"

    /// Writes a record that is not deleted.
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
        writer.member(Key.recordName, record.name)
        writer.member(Key.recordType, record.type)
        writer.key(Key.fields)
        try writeFields(of: record, desiredKeys: desiredKeys, to: &writer)
        writer.key(Key.pluginFields)
        writer.openObject()
        writer.closeObject()
        writer.member(Key.recordChangeTag, ChangeTag.text(record.sequence))
        write(record.created, .created, to: &writer)
        write(record.modified, .modified, to: &writer)
        writer.member(Key.deleted, false)
        writeReference(.parent, record.parent, to: &writer)
        writeReference(.share, record.share, to: &writer)
        if let part = try record.sharePart {
            try part.write(caller: caller, to: &writer)
        } else {
            writer.member(Key.shortGUID, record.rootPart?.shortGUID)
        }
        writeZone(to: &writer)
        writer.closeObject()
    }

    /// Writes a deleted record's tombstone.
    func writeTombstone(_ name: String, type: String?, to writer: inout JSONWriter) {
        writer.openObject()
        writer.member(Key.recordName, name)
        if namesTypeOfTombstones { writer.member(Key.recordType, type) }
        writer.member(Key.deleted, true)
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
        guard desiredKeys?.isEmpty != true else { return writer.fields([:]) }
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
        _ key: Key,
        to writer: inout JSONWriter
    ) {
        writer.key(key)
        writer.openObject()
        writer.member(WireRecord.Stamp.CodingKeys.timestamp, stamp.milliseconds)
        writer.member(WireRecord.Stamp.CodingKeys.userRecordName, stamp.user)
        writer.member(WireRecord.Stamp.CodingKeys.deviceID, Self.deviceID)
        writer.closeObject()
    }

    private func writeReference(_ key: Key, _ name: String?, to writer: inout JSONWriter) {
        guard let name else { return }
        writer.key(key)
        writer.openObject()
        writer.member(WireReference.CodingKeys.recordName, name)
        writer.closeObject()
    }

    private func writeZone(to writer: inout JSONWriter) {
        guard namesZone else { return }
        writer.key(Key.zoneID)
        writer.zoneID(zone.id)
    }

    /// Writes the zone's newest change token if the client requests it in the URL, as iCloud's own
    /// web apps do.
    static func writeSyncToken(
        of zones: [ZoneView],
        _ call: Call,
        _ seal: TokenSeal,
        to writer: inout JSONWriter
    ) {
        guard call.parameters.isTrue("getCurrentSyncToken"), zones.count == 1,
            let zone = zones.first, !zone.isDefault
        else { return }
        let token = zone.syncToken(after: zone.zone.headSequence)
        writer.member(
            RecordsResponse.CodingKeys.syncToken,
            token.sealed(by: seal, for: .zoneChanges)
        )
    }
}
