import CloudKit
import CloudKitCodable
import CloudKitTesting
import Foundation
import Testing

@Suite("What is no number")
struct NumberTests {
    struct Holder<Value: Codable>: CloudKitModel {
        var value: Value
        var recordName: String { "holder" }
        static var recordType: String { "Holder" }
    }

    struct Pair: Codable {
        var date: Date
    }

    /// A value with an invalid record name, and a date that cannot be printed.
    struct Nameless: CloudKitModel {
        var date = Date(timeIntervalSinceReferenceDate: .nan)
        var recordName: String { "" }
    }

    private func check(_ value: some Codable, sourceLocation: SourceLocation = #_sourceLocation) {
        for forms in [CloudKitRecordForms.original, .native] {
            let encoder = CloudKitRecordEncoder()
            encoder.forms = forms
            let error = #expect(throws: EncodingError.self, sourceLocation: sourceLocation) {
                try encoder.encode(Holder(value: value))
            }
            guard case .invalidValue(let found, let context)? = error else { return }
            let text = "\(found) \(context) \(error?.localizedDescription ?? "")"
            #expect(text.contains("holder of type Holder"), sourceLocation: sourceLocation)
            #expect(
                context.codingPath.first?.stringValue == "value",
                sourceLocation: sourceLocation
            )
        }
        let error = #expect(throws: CloudKitGraphError.self, sourceLocation: sourceLocation) {
            try CloudKitGraphEncoder(zoneID: .default).encode(Holder(value: value))
        }
        #expect("\(String(describing: error))".contains("value"), sourceLocation: sourceLocation)
    }

    @Test("A date, a double or a decimal that is none is an error with the record and the field")
    func refused() {
        for number in [Double.nan, .infinity, -.infinity] {
            check(number)
            check(Float(number))
            check([1, number])
            check(Optional(number))
            check(Pair(date: Date(timeIntervalSinceReferenceDate: number)))
            check(["a": number])
            check(Date(timeIntervalSinceReferenceDate: number))
            check([Date(timeIntervalSinceReferenceDate: number)])
            check(Set([Float(number)]))
        }
        check(Date(timeIntervalSinceReferenceDate: 1e300))
        check(Decimal.nan)
        check([Decimal.nan])
        check(Int128.max)
        check([Int128.min])
        check(UInt128.max)
        check(UInt64.max)
    }

    @Test("No error prints a value that cannot be printed")
    func printing() throws {
        let error = #expect(throws: EncodingError.self) {
            try CloudKitRecordEncoder().encode(Nameless())
        }
        #expect("\(try #require(error))".contains("Nameless"))
        // A wrapper's checked setter reports the same error.
        let record = CKRecord(recordType: "Any", recordID: CKRecord.ID(recordName: "any"))
        record["date"] = Date(timeIntervalSinceReferenceDate: .nan)
        struct Text: Codable { var date: String }
        #expect(throws: DecodingError.self) {
            try CloudKitRecordDecoder().decode(Text.self, from: record)
        }
        #expect(throws: EncodingError.self) {
            try CloudKitRecordEncoder().encode(
                Holder(value: Date(timeIntervalSinceReferenceDate: .nan)),
                onto: record
            )
        }
    }

    @Test("Integers of 128 bits come back while they fit")
    func wideIntegers() throws {
        struct Wide: CloudKitModel, Equatable {
            var signed: Int128 = -5
            var unsigned: UInt128? = 7
            var missing: Int128?
            var list: [Int128] = [1, 2]
            var recordName: String { "wide" }
        }
        let record = try CloudKitRecordEncoder().encode(Wide())
        #expect(record["signed"] == -5)
        #expect(try CloudKitRecordDecoder().decode(Wide.self, from: record) == Wide())
    }

    @Test("A location that is nowhere is an error")
    func locations() {
        struct Place: CloudKitModel {
            @CloudKitValue var place = CLLocation(latitude: .nan, longitude: 0)
            var recordName: String { "place" }
        }
        let error = #expect(throws: EncodingError.self) {
            try CloudKitRecordEncoder().encode(Place())
        }
        #expect("\(String(describing: error))".contains("place of type Place"))
    }

    @Test("A folder given as a file is an error that says what to do")
    func folders() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "folder-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        struct Native: CloudKitModel {
            @CloudKitValue var file: CKAsset
            var recordName: String { "native" }
        }
        check(folder)
        #expect(throws: CloudKitGraphError.self) {
            try CloudKitGraphEncoder(zoneID: .default).encode(Holder(value: [folder]))
        }
        let error = #expect(throws: EncodingError.self) {
            try CloudKitRecordEncoder().encode(Native(file: CKAsset(fileURL: folder)))
        }
        #expect("\(String(describing: error))".contains("is a folder, and an asset is one file"))
    }

    @Test("A pipe or a device given as a file is an error, and nothing is read from it")
    func pipes() async throws {
        let pipe = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        #expect(mkfifo(pipe.path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(at: pipe) }
        let cloud = try await TestCloud()
        let database = try await cloud.device(of: try await cloud.addUser("Ada"))
            .privateCloudDatabase
        for file in [pipe, URL(filePath: "/dev/null")] {
            check(file)
            let record = CKRecord(recordType: "Any", recordID: CKRecord.ID(recordName: "any"))
            record["file"] = CKAsset(fileURL: file)
            let error = await #expect(throws: CKError.self) { try await database.save(record) }
            #expect(error?.code == .assetNotAvailable)
            #expect(error?.localizedDescription.contains("not a file") == true)
        }
    }

    @Test("Within JSON the error says what to do, too")
    func withinJSON() {
        let error = #expect(throws: EncodingError.self) {
            try CloudKitRecordEncoder().encode(Holder(value: ["a": Double.nan]))
        }
        #expect("\(String(describing: error))".contains("Make the property optional"))
    }

    #if Macros
    @Test("A mapping that the macro wrote refuses the same")
    func mapped() throws {
        var memo = Memo("m", title: "t")
        memo.price = .nan
        #expect(throws: EncodingError.self) { try CloudKitRecordEncoder().encode(memo) }
        memo.price = 1
        memo.due = Date(timeIntervalSinceReferenceDate: .infinity)
        #expect(throws: EncodingError.self) { try CloudKitRecordEncoder().encode(memo) }
        memo.due = Date(timeIntervalSinceReferenceDate: 1)
        let record = try CloudKitRecordEncoder().encode(memo)
        memo.price = -.infinity
        #expect(throws: EncodingError.self) {
            try CloudKitRecordEncoder().encode(memo, onto: record)
        }
    }
    #endif
}
