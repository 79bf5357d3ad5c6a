import CloudKit
import Support
import Testing

@Suite("Records between two devices")
struct RecordTests {
    static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    private static func note(_ name: String, _ title: String = "Milk") -> CKRecord {
        let record = CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: name, zoneID: zoneID)
        )
        record["title"] = title
        return record
    }

    private static func devices(
        _ cloud: Cloud
    ) async throws -> (phone: CKDatabase, laptop: CKDatabase) {
        let user = try await cloud.addUser()
        let phone = try await cloud.database(of: user)
        try await phone.save(CKRecordZone(zoneID: zoneID))
        return (phone, try await cloud.database(of: user))
    }

    @Test("Every kind of value arrives as it was saved", arguments: CloudFixture.allCases)
    func values(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (phone, laptop) = try await Self.devices(cloud)
            let file = FileManager.default.temporaryDirectory
                .appendingPathComponent("RecordTests-\(UUID().uuidString)")
            let contents = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
            try contents.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let location = CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: 51.5, longitude: -0.1),
                altitude: 11,
                horizontalAccuracy: 5,
                verticalAccuracy: 6,
                course: 90,
                speed: 1.5,
                timestamp: Date(timeIntervalSince1970: 1_700_000_000.125)
            )

            let note = Self.note("n1")
            note["int"] = Int64.max
            note["double"] = 5.0
            note["pi"] = Double.pi
            note["flag"] = true
            note["date"] = Date(timeIntervalSince1970: 1_700_000_000.125)
            note["data"] = Data([0, 1, 255])
            note["place"] = location
            note["reference"] = CKRecord.Reference(recordID: note.recordID, action: .none)
            note["file"] = CKAsset(fileURL: file)
            note["strings"] = ["a", "", "ü"]
            note["ints"] = [1, -1]
            note["doubles"] = [0.5, 2]
            note["dates"] = [Date(timeIntervalSince1970: 0)]
            note["datas"] = [Data([1])]
            note["places"] = [location]
            note["references"] = [CKRecord.Reference(recordID: note.recordID, action: .none)]
            note["files"] = [CKAsset(fileURL: file)]
            note.encryptedValues["secret"] = "s"
            let saved = try await phone.save(note)
            #expect(saved === note)
            #expect(note.recordChangeTag != nil && note.creationDate != nil)
            #expect(note.changedKeys().isEmpty)

            let read = try await laptop.record(for: note.recordID)
            #expect(read.recordType == "Note")
            #expect(read.recordID == note.recordID)
            #expect(read.recordChangeTag == note.recordChangeTag)
            #expect(read.changedKeys().isEmpty)
            #expect(read.allKeys() == note.allKeys())
            #expect(read["int"] == Int64.max)
            #expect(read["double"] == 5.0)
            #expect(read["pi"] == Double.pi)
            #expect(read["flag"] == true)
            #expect(read["date"] == Date(timeIntervalSince1970: 1_700_000_000.125))
            #expect(read["data"] == Data([0, 1, 255]))
            #expect(read["place"] as? CLLocation == location)
            #expect((read["reference"] as? CKRecord.Reference)?.recordID == note.recordID)
            #expect(read["strings"] == ["a", "", "ü"])
            #expect(read["ints"] == [1, -1])
            #expect(read["doubles"] == [0.5, 2.0])
            #expect(read["dates"] == [Date(timeIntervalSince1970: 0)])
            #expect(read["datas"] == [Data([1])])
            #expect(read["places"] as? [CLLocation] == [location])
            #expect(
                read["references"] as? [CKRecord.Reference] == [
                    CKRecord.Reference(recordID: note.recordID, action: .none)
                ]
            )
            #expect(read.encryptedValues["secret"] == "s")
            let asset = try #require(read["file"] as? CKAsset)
            #expect(try Data(contentsOf: try #require(asset.fileURL)) == contents)
            let assets = try #require(read["files"] as? [CKAsset])
            #expect(try assets.map { try Data(contentsOf: try #require($0.fileURL)) } == [contents])
            #expect(read.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
        }
    }

    @Test(
        "Only what changed is sent; a field set to nil is cleared",
        arguments: CloudFixture.allCases
    )
    func changedKeys(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (phone, laptop) = try await Self.devices(cloud)
            let note = Self.note("n1")
            note["extra"] = 1
            try await phone.save(note)
            let edit = try await laptop.record(for: note.recordID)
            edit["extra"] = nil
            edit["more"] = 2
            try await laptop.save(edit)
            let read = try await phone.record(for: note.recordID)
            #expect(read.allKeys() == ["more", "title"])
        }
    }

    @Test(
        "The second to save gets the server's, its own and the common version",
        arguments: CloudFixture.allCases
    )
    func conflict(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (phone, laptop) = try await Self.devices(cloud)
            let mine = Self.note("n1", "Milk")
            try await phone.save(mine)
            let theirs = try await laptop.record(for: mine.recordID)
            theirs["title"] = "Eggs"
            try await laptop.save(theirs)
            mine["title"] = "Bread"
            let error = await #expect(throws: CKError.self) { try await phone.save(mine) }
            #expect(error?.code == .serverRecordChanged)
            #expect(error?.serverRecord?["title"] == "Eggs")
            #expect(error?.serverRecord?.recordChangeTag == theirs.recordChangeTag)
            #expect(error?.clientRecord === mine)
            #expect(error?.ancestorRecord?["title"] == "Milk")
            #expect(mine["title"] == "Bread")
            #expect(mine.changedKeys() == ["title"])

            let server = try #require(error?.serverRecord)
            server["title"] = "Bread"
            try await phone.save(server)
            #expect(try await laptop.record(for: mine.recordID)["title"] == "Bread")
        }
    }

    @Test(
        "A new record under an existing name is a conflict; the other policies overwrite",
        arguments: CloudFixture.allCases
    )
    func policies(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (phone, laptop) = try await Self.devices(cloud)
            let first = Self.note("n1", "first")
            first["kept"] = 1
            try await phone.save(first)
            let second = Self.note("n1", "second")
            let error = await #expect(throws: CKError.self) { try await laptop.save(second) }
            #expect(error?.code == .serverRecordChanged)
            #expect(error?.serverRecord?["title"] == "first")

            for policy in [CKModifyRecordsOperation.RecordSavePolicy.changedKeys, .allKeys] {
                let overwriting = Self.note("n1", "by \(policy)")
                let results = try await laptop.modifyRecords(
                    saving: [overwriting],
                    deleting: [],
                    savePolicy: policy
                )
                _ = try #require(results.saveResults[overwriting.recordID]).get()
                let read = try await phone.record(for: first.recordID)
                #expect(read["title"] == "by \(policy)")
                #expect(read["kept"] == 1)
            }
        }
    }

    @Test(
        "In an atomic batch one bad record fails all, each with its reason, and nothing is stored",
        arguments: CloudFixture.allCases
    )
    func atomicity(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (phone, laptop) = try await Self.devices(cloud)
            try await phone.save(Self.note("taken"))
            let batch = [Self.note("a"), Self.note("taken"), Self.note("b")]
            let atomic = try await laptop.modifyRecords(saving: batch, deleting: [])
            let codes = batch.map { record -> CKError.Code? in
                guard case .failure(let error as CKError) = atomic.saveResults[record.recordID]
                else { return nil }
                return error.code
            }
            #expect(codes == [.batchRequestFailed, .serverRecordChanged, .batchRequestFailed])
            let found = try await phone.records(for: batch.map(\.recordID))
            #expect(found.values.count { (try? $0.get()) != nil } == 1)

            let loose = try await laptop.modifyRecords(
                saving: batch,
                deleting: [],
                atomically: false
            )
            #expect(loose.saveResults.values.count { (try? $0.get()) != nil } == 2)
        }
    }

    @Test(
        "Deleting what is not there succeeds; fetching it says so by record",
        arguments: CloudFixture.allCases
    )
    func missing(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (phone, _) = try await Self.devices(cloud)
            let absent = CKRecord.ID(recordName: "absent", zoneID: Self.zoneID)
            #expect(try await phone.deleteRecord(withID: absent) == absent)
            await expectCKError(.unknownItem) { try await phone.record(for: absent) }
            let elsewhere = CKRecord.ID(
                recordName: "n",
                zoneID: CKRecordZone.ID(zoneName: "Nowhere")
            )
            await expectCKError(.zoneNotFound) { try await phone.record(for: elsewhere) }
            let lost = CKRecord(recordType: "Note", recordID: elsewhere)
            await expectCKError(.zoneNotFound) { try await phone.save(lost) }
        }
    }

    @Test(
        "400 items are taken in one call, 401 are refused before anything is sent",
        arguments: CloudFixture.allCases
    )
    func itemLimit(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (phone, laptop) = try await Self.devices(cloud)
            let notes = (0..<400).map { Self.note("n\($0)") }
            let results = try await phone.modifyRecords(saving: notes, deleting: [])
            #expect(results.saveResults.values.allSatisfy { (try? $0.get()) != nil })
            let all = try await laptop.records(for: notes.map(\.recordID))
            #expect(all.count == 400)
            #expect(all.values.allSatisfy { (try? $0.get()) != nil })
            await expectCKError(.limitExceeded) {
                _ = try await phone.modifyRecords(
                    saving: notes + [Self.note("one more")],
                    deleting: []
                )
            }
            await expectCKError(.invalidArguments) {
                _ = try await phone.modifyRecords(
                    saving: [notes[0]],
                    deleting: [notes[0].recordID]
                )
            }
        }
    }

    @Test(
        "What cannot be sent is refused with record and field, and the rest of the batch is kept out",
        arguments: CloudFixture.allCases
    )
    func unsendable(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (phone, _) = try await Self.devices(cloud)
            let huge = Self.note("huge")
            huge["body"] = String(repeating: "x", count: 1_000_001)
            let unsigned = Self.note("unsigned")
            unsigned["number"] = UInt64.max
            let infinite = Self.note("infinite")
            infinite["ratio"] = Double.infinity
            let never = Self.note("never")
            never["date"] = Date(timeIntervalSinceReferenceDate: .nan)
            let nevers = Self.note("nevers")
            nevers["dates"] = [Date(), Date(timeIntervalSinceReferenceDate: .infinity)]
            let lost = Self.note("lost")
            lost["place"] = CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: 1, longitude: 2),
                altitude: 0,
                horizontalAccuracy: 0,
                verticalAccuracy: 0,
                timestamp: Date(timeIntervalSinceReferenceDate: .nan)
            )
            let gone = Self.note("gone")
            gone["file"] = CKAsset(fileURL: URL(fileURLWithPath: "/no/such/file"))
            let cases: [(CKRecord, CKError.Code, String)] = [
                (huge, .limitExceeded, "body"), (unsigned, .invalidArguments, "number"),
                (infinite, .invalidArguments, "ratio"), (gone, .assetFileNotFound, "file"),
                (never, .invalidArguments, "date"), (nevers, .invalidArguments, "dates"),
                (lost, .invalidArguments, "place"),
            ]
            for (record, code, field) in cases {
                let error = await #expect(throws: CKError.self) { try await phone.save(record) }
                #expect(error?.code == code)
                let message = error?.localizedDescription ?? ""
                #expect(message.contains(record.recordID.recordName) && message.contains(field))

                let good = Self.note("good")
                let batch = try await phone.modifyRecords(saving: [good, record], deleting: [])
                await expectCKError(.batchRequestFailed) {
                    try batch.saveResults[good.recordID]?.get()
                }
                await expectCKError(.unknownItem) {
                    try await phone.record(for: good.recordID)
                }
            }
        }
    }

    @Test(
        "Completion handlers are called once with what the async form gives",
        arguments: CloudFixture.allCases
    )
    func completions(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (phone, _) = try await Self.devices(cloud)
            let note = Self.note("n1")
            let saved = await withCheckedContinuation { continuation in
                phone.save(note) { record, error in
                    continuation.resume(returning: (record, error as? CKError))
                }
            }
            #expect(saved.0 === note && saved.1 == nil)
            let missing = CKRecord.ID(recordName: "absent", zoneID: Self.zoneID)
            let fetched = await withCheckedContinuation { continuation in
                phone.fetch(withRecordID: missing) { record, error in
                    continuation.resume(returning: (record, error as? CKError))
                }
            }
            #expect(fetched.0 == nil && fetched.1?.code == .unknownItem)
        }
    }
}
