import CloudKitWebClient
import Foundation

/// An exported record to be sent to a service.
struct ImportItem {
    /// The line that contains it.
    let line: LineReader.Line
    let name: String
    var record: WireRecord
    /// The files of its assets, by field.
    let files: [String: [URL]]

    /// `true` when the line deletes a record that an earlier line created.
    var isDeletion: Bool { record.deleted == true }

    /// The records of the same zone that must exist before this one.
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

    /// The change that imports the record; repeating it has no further effect.
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
