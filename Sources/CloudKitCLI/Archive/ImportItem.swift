import CloudKitWebClient
import Foundation

/// A record of an export on its way to a service.
struct ImportItem {
    /// The line that it came from.
    let line: LineReader.Line
    let name: String
    var record: WireRecord
    /// The files of its assets, by field.
    let files: [String: [URL]]

    /// Whether the line takes a record away that an earlier line made.
    var isDeletion: Bool { record.deleted == true }

    /// The records of the same zone that must be there before this one.
    var targets: Set<String> {
        var targets: Set<String> = []
        if let parent = record.parent { targets.insert(parent.recordName) }
        for field in record.fields.values {
            guard let value = field.value else { continue }
            targets.formUnion(Self.validated(value))
        }
        targets.remove(name)
        return targets
    }

    private static func validated(_ value: WireValue) -> [String] {
        switch value {
        case .reference(let reference) where reference.action == .validate: [reference.recordName]
        case .list(let values, _): values.flatMap(validated)
        default: []
        }
    }

    /// The change that brings the record; doing it twice is as good as once.
    var operation: RecordOperation {
        if isDeletion { return RecordOperation(.forceDelete, WireRecord(recordName: name)) }
        var saved = WireRecord(
            recordName: name,
            recordType: record.recordType,
            fields: record.fields
        )
        saved.parent = record.parent.map { WireReference(recordName: $0.recordName) }
        return RecordOperation(.forceReplace, saved)
    }
}
