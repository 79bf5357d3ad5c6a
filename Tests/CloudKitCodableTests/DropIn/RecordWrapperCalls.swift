import CloudKit
import CloudKitCodable
import Foundation
import Testing

// The usual pattern: a wrapper with computed properties over its record.

private struct Folder: CKRecordWrapper {
    static let RecordType = "Folder"

    enum FieldKey: String {
        case name
    }

    let record: CKRecord

    init(record: CKRecord) {
        self.record = record
    }

    init(name: String) {
        self.init(record: CKRecord(recordType: Folder.RecordType))
        self.name = name
    }

    var name: String {
        get { getField(.name) ?? "" }
        nonmutating set { setField(.name, value: newValue) }
    }
}

private struct Note: CKRecordWrapper {
    static let RecordType = "Note"

    enum FieldKey: String {
        case content, folder, priority, done, due, page, key, colour, theme, tags
    }

    var record: CKRecord

    var content: String? {
        get { getField(.content) }
        set { setField(.content, value: newValue) }
    }

    var folderIdentifier: String? {
        get { getReference(.folder) }
        set { setReference(.folder, referenceIdentifier: newValue) }
    }

    var priority: Int? {
        get { getField(.priority) }
        set { setField(.priority, value: newValue) }
    }

    var isDone: Bool? {
        get { getField(.done) }
        set { setField(.done, value: newValue) }
    }

    var due: Date? {
        get { getField(.due) }
        set { setField(.due, value: newValue) }
    }
}

@Suite("Calls of record wrappers")
struct RecordWrapperCalls {
    @Test("Computed properties read and write the record")
    func properties() {
        let folder = Folder(name: "Inbox")
        #expect(folder.name == "Inbox" && folder.record["name"] == "Inbox")
        var note = Note(record: CKRecord(recordType: Note.RecordType))
        #expect(note.content == nil && note.priority == nil && note.folderIdentifier == nil)
        note.content = "Milk"
        note.priority = 3
        note.isDone = true
        note.due = Date(timeIntervalSinceReferenceDate: 7)
        note.folderIdentifier = folder.identifier
        #expect(note.content == "Milk" && note.priority == 3 && note.isDone == true)
        #expect(note.due?.timeIntervalSinceReferenceDate == 7)
        #expect(note.folderIdentifier == folder.identifier)
        #expect(note.record.allKeys() == ["content", "done", "due", "folder", "priority"])
        note.content = nil
        note.folderIdentifier = nil
        #expect(note.record.changedKeys().contains("content"))
        #expect(note.record.allKeys() == ["done", "due", "priority"])
    }

    @Test("The record's own facts are there without a line")
    func facts() {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n1"))
        let note = Note(record: record)
        #expect(note.identifier == "n1")
        #expect(note.createdAt == record.creationDate)
        #expect(note.modifiedAt == record.modificationDate)
        func names(_ wrappers: [any CKRecordWrapper]) -> [String?] { wrappers.map(\.identifier) }
        #expect(names([note]) == ["n1"])
    }

    @Test("A value that a record does not hold as it is comes back, and clears nothing")
    func conversions() {
        let note = Note(record: CKRecord(recordType: "Note"))
        let page = URL(string: "https://example.com")!
        let key = UUID()
        note.setField(.page, value: page)
        note.setField(.key, value: key)
        note.setField(.colour, value: Colour.green)
        note.setField(.theme, value: Theme(name: "dark", shade: 2))
        note.setField(.tags, value: [page])
        #expect(note.getField(.page) == page)
        #expect(note.getField(.key) == key)
        #expect(note.getField(.colour) == Colour.green)
        #expect(note.getField(.theme) == Theme(name: "dark", shade: 2))
        #expect(note.getField(.tags) == [page])
        #expect(note.record["colour"] == "green")

        struct Opaque {}
        note.setField(.page, value: Opaque())
        note.setField(.priority, value: UInt64.max)
        #expect(note.getField(.page) == page)
        #expect(note.record["priority"] == nil)
    }

    @Test("A number that does not fit, and a value of another type, are nil")
    func narrowing() {
        let note = Note(record: CKRecord(recordType: "Note"))
        note.setField(.priority, value: 300)
        #expect(note.getField(.priority) as Int8? == nil)
        #expect(note.getField(.priority) as String? == nil)
        #expect(note.getField(.priority) == 300)
        #expect(note.getField(.priority) == 300.0)
    }
}
