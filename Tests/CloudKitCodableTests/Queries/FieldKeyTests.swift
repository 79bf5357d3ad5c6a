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
        let title: CloudKitFieldKey<Memo, String> = Memo.Fields.title
        let place: CloudKitFieldKey<Memo, CLLocation?> = Memo.Fields.place
        let tags: CloudKitFieldKey<Memo, [String]> = Memo.Fields.tags
        #expect(title.name == "title" && place.name == "place" && tags.name == "words")
        #expect(title == CloudKitFieldKey(\Memo.title, Memo.CodingKeys.title))
        #expect(CloudKitFieldKey<Memo, Date>.creationDate.name == "creationDate")
    }

    @Test("One property is read and written without the rest of the model")
    func oneField() throws {
        let record = CKRecord(recordType: "Note")
        try record.set("Milk", of: Memo.Fields.title)
        try record.set(.green, of: Memo.Fields.color)
        try record.set("hidden", of: Memo.Fields.secret)
        #expect(record["title"] == "Milk" && record["color"] == "green")
        #expect(record["secret"] == nil && record.encryptedValues["secret"] == "hidden")
        #expect(try record.value(of: Memo.Fields.title) == "Milk")
        #expect(try record.value(of: Memo.Fields.color) == .green)
        #expect(try record.value(of: Memo.Fields.secret) == "hidden")
        #expect(try record.value(of: Memo.Fields.due) == nil)

        try record.set(nil, of: Memo.Fields.secret)
        #expect(record.encryptedValues.allKeys().isEmpty)
        let error = #expect(throws: DecodingError.self) {
            try record.value(of: Memo.Fields.count)
        }
        #expect(error.map { "\($0)" }?.contains("has no field count") == true)
    }

    @Test("The keys of a request are the names of the fields")
    func desiredKeys() throws {
        let keys = try Memo.desiredKeys(\.title, \.tags, \.scan, \.secret, \.pages, \.id)
        #expect(keys == ["title", "words", "scan", "scan_asset", "secret"])
        let error = #expect(throws: CloudKitQueryError.self) {
            try Memo.desiredKeys(\.title, \.title.count)
        }
        #expect(error?.message.contains("not a stored property") == true)
        #expect(error?.property?.contains("Memo") == true)
        #expect(error?.recordType == "Note")
    }
}
#endif
