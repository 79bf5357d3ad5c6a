import CloudKit
import CloudKitCodable
import Foundation
import Testing

@Suite("Record wrappers")
struct RecordWrapperTests {
    struct Note: CKRecordWrapper {
        enum FieldKey: String { case title, count, folder, page }

        static let RecordType = "Note"
        let record: CKRecord
    }

    private let note = Note(
        record: CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: "n", zoneID: CKRecordZone.ID(zoneName: "Z"))
        )
    )

    @Test("Fields and references are read and written under their keys")
    func fields() {
        note.setField(.title, value: "Milk")
        #expect(note.getField(.title) == "Milk")
        note.setField(.title, value: nil as String?)
        #expect(note.getField(.title) as String? == nil)
        #expect(note.identifier == "n")
        #expect(note.createdAt == nil && note.modifiedAt == nil)
        note.setReference(.folder, referenceIdentifier: "f")
        #expect(note.getReference(.folder) == "f")
        let reference: CKRecord.Reference? = note.record["folder"]
        #expect(reference?.recordID.zoneID.zoneName == "Z")
        #expect(reference?.action == .deleteSelf)
    }

    @Test("The checked variants store every value and lose none")
    func checked() throws {
        let page = URL(string: "https://example.com")!
        try note.set(page, for: .page)
        #expect(try note.value(of: .page) == page)
        try note.set(300, for: .count)
        #expect(throws: DecodingError.self) { try note.value(of: .count, as: Int8.self) }
        #expect(throws: DecodingError.self) { try note.value(of: .count, as: String.self) }
        try note.set(nil as Int?, for: .count)
        #expect(try note.value(of: .count, as: Int.self) == nil)

        let folderID = CKRecord.ID(recordName: "f", zoneID: note.record.recordID.zoneID)
        try note.setReference(.folder, to: folderID, action: CKRecord.ReferenceAction.none)
        #expect(try note.reference(of: .folder)?.action == CKRecord.ReferenceAction.none)
        #expect(throws: EncodingError.self) {
            try note.setReference(
                .folder,
                to: CKRecord.ID(recordName: "f"),
                action: CKRecord.ReferenceAction.none
            )
        }
        let references = ["a", "b"].map {
            CKRecord.Reference(
                recordID: CKRecord.ID(recordName: $0, zoneID: folderID.zoneID),
                action: .none
            )
        }
        try note.set(CloudKitValue(wrappedValue: references), for: .page)
        #expect(note.getField(.page) as [CKRecord.Reference]? == references)
        try note.set(page, for: .page)
        #expect(throws: DecodingError.self) { try note.reference(of: .page) }
        #expect(throws: DecodingError.self) { try Note(checked: CKRecord(recordType: "Folder")) }
    }
}
