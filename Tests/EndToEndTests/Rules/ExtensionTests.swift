import CloudKit
import CloudKitServerCore
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Testing

/// A transport that removes the header of the package's own extensions: from requests to `path`, or
/// from all responses, as with Apple's service.
private struct PlainTransport: PassingTransport {
    let base: any Transport
    var hidesResponses = false
    var path = ""

    private static let header = "X-Swift-CloudKit-Extensions"

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        var request = request
        if hidesResponses || request.isAbout(path) { request.headers[Self.header] = nil }
        var response = try await base.send(request)
        if hidesResponses { response.headers[Self.header.lowercased()] = nil }
        return response
    }
}

@Suite("What this package's client and server agree on")
struct ExtensionTests {
    private static let zone = CKRecordZone(zoneName: "Notes")
    /// Dates with a precision below a millisecond, before and after 1970.
    private static let dates = [
        721_692_800.123_456_7, 721_692_800.123_987_6, -1_234_567_890.987_654_3, 0.1, 1e9,
    ]
    .map { Date(timeIntervalSinceReferenceDate: $0) }

    private static func note(_ name: String = "a") -> CKRecord {
        CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID)
        )
    }

    @Test("Dates come back equal to the last bit", arguments: CloudFixture.allCases)
    func exactDates(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let phone = try await cloud.database(of: ada)
            _ = try await phone.save(Self.zone)
            let record = Self.note()
            for (index, date) in Self.dates.enumerated() { record["date\(index)"] = date }
            record["list"] = Self.dates
            record.encryptedValues["secret"] = Self.dates[0]
            let place = CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: 1, longitude: 2),
                altitude: 3,
                horizontalAccuracy: 4,
                verticalAccuracy: 5,
                timestamp: Self.dates[1]
            )
            record["place"] = place
            record["places"] = [place]
            _ = try await phone.save(record)

            let laptop = try await cloud.database(of: ada)
            let fetched = try await laptop.record(for: record.recordID)
            for (index, date) in Self.dates.enumerated() {
                #expect(fetched["date\(index)"] as? Date == date)
            }
            #expect(fetched["list"] as? [Date] == Self.dates)
            #expect(fetched.encryptedValues["secret"] as? Date == Self.dates[0])
            #expect(fetched["place"] as? CLLocation == place)
            #expect(fetched["places"] as? [CLLocation] == [place])
            let changes = try await laptop.recordZoneChanges(
                inZoneWith: Self.zone.zoneID,
                since: nil
            )
            let changed = try changes.modificationResultsByID[record.recordID]?.get().record
            #expect(changed?["list"] as? [Date] == Self.dates)

            // A date that another client changes is that client's, whatever it was before.
            fetched["date0"] = Self.dates[3]
            _ = try await laptop.save(fetched)
            let again = try await phone.record(for: record.recordID)
            #expect(again["date0"] as? Date == Self.dates[3])
            #expect(again["date1"] as? Date == Self.dates[1])
        }
    }

    @Test("The first request of a new client already sends dates as they are")
    func firstRequest() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await cloud.addUser()
            _ = try await cloud.database(of: ada).save(Self.zone)
            let record = Self.note()
            record["date"] = Self.dates[0]
            _ = try await cloud.database(of: ada).save(record)
            let fetched = try await cloud.database(of: ada).record(for: record.recordID)
            #expect(fetched["date"] as? Date == Self.dates[0])
        }
    }

    @Test(
        "Against another service a date is cut to milliseconds, never up, and then stays the same",
        arguments: CloudFixture.allCases
    )
    func cutDates(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let plain = { (base: any Transport) -> any Transport in
                PlainTransport(base: base, hidesResponses: true)
            }
            let phone = try await cloud.database(of: ada, transport: plain)
            _ = try await phone.save(Self.zone)
            let record = Self.note()
            record["list"] = Self.dates
            _ = try await phone.save(record)
            let laptop = try await cloud.database(of: ada, transport: plain)
            let fetched = try await laptop.record(for: record.recordID)
            let echoes = try #require(fetched["list"] as? [Date])
            for (echo, date) in zip(echoes, Self.dates) {
                // The rounding error of arithmetic is far below a millisecond.
                #expect(-0.000_000_5..<0.001_1 ~= date.timeIntervalSince(echo))
            }
            for _ in 0..<3 {
                fetched["list"] = try #require(fetched["list"] as? [Date])
                _ = try await laptop.save(fetched)
            }
            let last = try await phone.record(for: record.recordID)
            #expect(last["list"] as? [Date] == echoes)
        }
    }

    @Test("A fraction of a millisecond from any other client is refused")
    func otherClients() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let ada = try await cloud.addUser()
            let database = try await cloud.database(of: ada) {
                PlainTransport(base: $0, path: "records/modify")
            }
            _ = try await database.save(Self.zone)
            let record = Self.note()
            record["due"] = Self.dates[0]
            let error = await expectCKError(.invalidArguments) { try await database.save(record) }
            #expect(error?.localizedDescription.contains("due") == true)

            let script = ScriptedTransport()
            let client = try await cloud.client(of: ada, transport: script.over)
            _ = try? await client.caller()
            var request = try #require(script.requests.first)
            request.method = "POST"
            request.url = request.url.replacing(
                "public/users/caller",
                with: "private/records/modify"
            )
            request.headers = [:]
            request.body = Data(
                #"""
                {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create","record":
                {"recordName":"b","recordType":"Note","fields":
                {"due":{"value":1700000000000.5,"type":"TIMESTAMP"}}}}]}
                """#.utf8
            )
            let response = try await client.transport.send(request)
            #expect(response.status == 400)
            #expect(String(decoding: response.body, as: UTF8.self).contains("due"))
        }
    }

    @Test(
        "201 to 400 atomic items are one request to this package's server, all or nothing",
        arguments: CloudFixture.allCases
    )
    func atomicUnit(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.addUser()
            let script = ScriptedTransport()
            let database = try await cloud.database(of: ada, transport: script.over)
            _ = try await database.save(Self.zone)
            _ = try await database.save(Self.note("399"))
            // The last of 400 exists already.
            let records = (0..<400).map { Self.note("\($0)") }
            let before = script.requests(about: "records/modify").count
            let (results, _) = try await database.modifyRecords(
                saving: records,
                deleting: [],
                atomically: true
            )
            #expect(script.requests(about: "records/modify").count == before + 1)
            #expect(results.count == 400 && results.values.allSatisfy { (try? $0.get()) == nil })
            let changes = try await database.recordZoneChanges(
                inZoneWith: Self.zone.zoneID,
                since: nil
            )
            #expect(changes.modificationResultsByID.count == 1)
            let (saved, _) = try await database.modifyRecords(
                saving: Array(records.dropLast()),
                deleting: [],
                atomically: true
            )
            #expect(saved.values.allSatisfy { (try? $0.get()) != nil })
        }
    }

    @Test("An asset that is too large is a limit exceeded", arguments: CloudFixture.allCases)
    func largeAsset(_ fixture: CloudFixture) async throws {
        var configuration = ServiceConfiguration()
        configuration.assetBytes = 100
        try await fixture.run(configuration: configuration) { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let file = URL.temporaryDirectory.appending(path: UUID().uuidString)
            try Data(count: 101).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let record = CKRecord(recordType: "Photo")
            record["image"] = CKAsset(fileURL: file)
            await expectCKError(.limitExceeded) { try await database.save(record) }
        }
    }

    @Test("A key that CloudKit keeps for itself is refused at the save, by name")
    func reservedKeys() async throws {
        try await CloudFixture.inProcess.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            for key in ["_recordChangeTag", "_"] {
                for isEncrypted in [false, true] {
                    let record = CKRecord(recordType: "Note")
                    if isEncrypted { record.encryptedValues[key] = 5 } else { record[key] = 5 }
                    let error = await expectCKError(.invalidArguments) {
                        try await database.save(record)
                    }
                    #expect(error?.localizedDescription.contains(key) == true)
                }
            }
        }
    }
}
