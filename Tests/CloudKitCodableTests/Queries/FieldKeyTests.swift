#if Macros
import CloudKit
import CloudKitCodable
import CoreLocation
import Foundation
import Testing

@Suite("Field keys")
struct FieldKeyTests {
    @Test("A property's key has the field's name and the property's type")
    func names() {
        let title: CloudKitFieldKey<Note, String> = Note.Fields.title
        let place: CloudKitFieldKey<Note, CLLocation?> = Note.Fields.place
        let tags: CloudKitFieldKey<Note, [String]> = Note.Fields.tags
        #expect(title.name == "title" && place.name == "place" && tags.name == "words")
        #expect(title == CloudKitFieldKey(\Note.title, Note.CodingKeys.title))
        #expect(CloudKitFieldKey<Note, Date>.creationDate.name == "creationDate")
    }

    @Test("One property is read and written without the rest of the model")
    func oneField() throws {
        let record = CKRecord(recordType: "Note")
        try record.set("Milk", of: Note.Fields.title)
        try record.set(.green, of: Note.Fields.color)
        try record.set("hidden", of: Note.Fields.secret)
        #expect(record["title"] == "Milk" && record["color"] == "green")
        #expect(record["secret"] == nil && record.encryptedValues["secret"] == "hidden")
        #expect(try record.value(of: Note.Fields.title) == "Milk")
        #expect(try record.value(of: Note.Fields.color) == .green)
        #expect(try record.value(of: Note.Fields.secret) == "hidden")
        #expect(try record.value(of: Note.Fields.due) == nil)

        try record.set(nil, of: Note.Fields.secret)
        #expect(record.encryptedValues.allKeys().isEmpty)
        let error = #expect(throws: DecodingError.self) {
            try record.value(of: Note.Fields.count)
        }
        #expect(error.map { "\($0)" }?.contains("has no field count") == true)
    }

    @Test("The keys of a request are the names of the fields")
    func desiredKeys() throws {
        let keys = try Note.desiredKeys(\.title, \.tags, \.scan, \.secret, \.pages, \.id)
        #expect(keys == ["title", "words", "scan", "scan_asset", "secret"])
        let error = #expect(throws: CloudKitQueryError.self) {
            try Note.desiredKeys(\.title, \.title.count)
        }
        #expect(error?.description.contains("title.count") == true)
        #expect(error?.recordType == "Note")
    }
}
#endif
