import CloudKit
import CloudKitExtras
import CloudKitTesting
import Foundation
import Support
import Testing

@Suite("Faults on demand, as clients meet them")
struct FaultTests {
    private static let zone = WireZoneID(zoneName: "Notes")

    private static func save(
        _ names: [String],
        on client: WebClient,
        tags: [String?] = []
    ) async throws -> RecordsResponse {
        let operations = names.enumerated().map { index, name in
            let tag = tags.indices.contains(index) ? tags[index] : nil
            return RecordOperation(
                tag == nil ? .forceUpdate : .update,
                WireRecord(recordName: name, recordType: "Note", recordChangeTag: tag)
            )
        }
        return try await client.modifyRecords(
            ModifyRecordsRequest(operations: operations, zoneID: zone, atomic: false),
            in: .private
        )
    }

    private static func names(_ client: WebClient) async throws -> [String] {
        let changes = try await client.zoneChanges(
            ZoneChangesRequest(zones: [.init(zoneID: zone)]),
            in: .private
        )
        return try changes.zones[0].get().records.map { try $0.get().recordName ?? "" }
    }

    /// Runs a test on a client whose zone exists.
    private static func run(
        _ fixture: CloudFixture,
        _ test: @Sendable (Cloud, WebClient) async throws -> Void
    ) async throws {
        try await fixture.run { cloud in
            let client = try await cloud.client(of: try await cloud.addUser("Ada"))
            _ = try await client.modifyZones(
                ModifyZonesRequest(operations: [.init(.create, zone)]),
                in: .private
            )
            try await test(cloud, client)
            cloud.setFaults(nil)
        }
    }

    /// Returns the error of the service, or of the transport.
    private static func failure(
        _ body: () async throws -> some Sendable
    ) async -> (code: ServerErrorCode?, transport: TransportError.Code?, retryAfter: Double?) {
        do {
            _ = try await body()
            return (nil, nil, nil)
        } catch WebClientError.refused(let error, _) {
            return (error.serverErrorCode, nil, error.retryAfter)
        } catch WebClientError.transport(let error) {
            return (nil, error.code, nil)
        } catch {
            return (nil, TransportError.Code(rawValue: "\(error)"), nil)
        }
    }

    @Test("Any code refuses the n-th request, and only that", arguments: CloudFixture.allCases)
    func codes(fixture: CloudFixture) async throws {
        try await Self.run(fixture) { cloud, client in
            let codes: [ServerErrorCode] = [
                .accessDenied, .atomicError, .authenticationFailed, .authenticationRequired,
                .badRequest, .changeTokenExpired, .conflict, .exists, .internalError, .notFound,
                .quotaExceeded, .throttled, .tryAgainLater, .uniqueFieldError,
                .validatingReferenceError, .zoneBusy, .zoneNotFound,
            ]
            for code in codes {
                let fault = Fault.error(code, retryAfter: code == .throttled ? 3 : nil)
                cloud.setFaults(
                    FaultPlan(rules: [FaultRule(fault, operation: "records/*", call: 2)])
                )
                _ = try await Self.save(["a"], on: client)
                let failure = await Self.failure { try await Self.save(["b"], on: client) }
                #expect(failure.code == code)
                #expect(failure.retryAfter == (code == .throttled ? 3 : nil))
                _ = try await Self.save(["a"], on: client)
            }
            #expect(try await Self.names(client) == ["a"])
        }
    }

    @Test("A lost response ends the connection after the commit", arguments: CloudFixture.allCases)
    func lostResponse(fixture: CloudFixture) async throws {
        try await Self.run(fixture) { cloud, client async throws in
            cloud.setFaults(FaultPlan(rules: [FaultRule(.lostResponse, call: 1)]))
            let failure = await Self.failure { try await Self.save(["a"], on: client) }
            #expect(failure.transport == .broken)
            let names = try await Self.names(client)
            #expect(names == ["a"])
        }
    }

    @Test("A reset connection changes nothing", arguments: CloudFixture.allCases)
    func reset(fixture: CloudFixture) async throws {
        try await Self.run(fixture) { cloud, client async throws in
            cloud.setFaults(FaultPlan(rules: [FaultRule(.resetConnection, call: 1)]))
            let failure = await Self.failure { try await Self.save(["a"], on: client) }
            #expect(failure.transport == .broken)
            let names = try await Self.names(client)
            #expect(names == [])
        }
    }

    @Test(
        "A cut response is broken, one that is cut behind its end is whole",
        arguments: CloudFixture.allCases
    )
    func cut(fixture: CloudFixture) async throws {
        try await Self.run(fixture) { cloud, client in
            for bytes in [0, 20] {
                cloud.setFaults(FaultPlan(rules: [FaultRule(.cutResponse(bytes: bytes), call: 1)]))
                let failure = await Self.failure { try await Self.save(["a"], on: client) }
                #expect(failure.transport == .broken)
            }
            cloud.setFaults(FaultPlan(rules: [FaultRule(.cutResponse(bytes: 1 << 20), call: 1)]))
            _ = try await Self.save(["a"], on: client)
        }
    }

    @Test(
        "A late response arrives late, or after the client's patience",
        arguments: CloudFixture.allCases
    )
    func delay(fixture: CloudFixture) async throws {
        try await Self.run(fixture) { cloud, client in
            cloud.setFaults(FaultPlan(rules: [FaultRule(.delay(milliseconds: 60), call: 1)]))
            let start = ContinuousClock.now
            _ = try await Self.save(["a"], on: client)
            #expect(ContinuousClock.now - start >= .milliseconds(60))
            cloud.setFaults(FaultPlan(rules: [FaultRule(.delay(milliseconds: 600_000), call: 1)]))
            var hasty = client
            hasty.timeout = 0.1
            let failure = await Self.failure { [hasty] in try await Self.save(["b"], on: hasty) }
            #expect(failure.transport == .timedOut)
        }
    }

    @Test("A slow response takes as long as its bytes do", arguments: CloudFixture.allCases)
    func slow(fixture: CloudFixture) async throws {
        try await Self.run(fixture) { cloud, client in
            let fault = Fault.slowResponse(bytesPerSecond: 2000)
            cloud.setFaults(FaultPlan(rules: [FaultRule(fault, call: 1)]))
            let start = ContinuousClock.now
            _ = try await Self.save(["a", "b"], on: client)
            #expect(ContinuousClock.now - start >= .milliseconds(100))
        }
    }

    @Test("One item of a request fails, the others are saved", arguments: CloudFixture.allCases)
    func item(fixture: CloudFixture) async throws {
        try await Self.run(fixture) { cloud, client in
            cloud.setFaults(
                FaultPlan(rules: [FaultRule(.itemError(.accessDenied, item: 1), call: 1)])
            )
            let response = try await Self.save(["a", "b", "c"], on: client)
            #expect(throws: ItemError.self) { try response.records[1].get() }
            #expect(try await Self.names(client) == ["a", "c"])
        }
    }

    @Test(
        "A stale tag is one that another device's save made stale",
        arguments: CloudFixture.allCases
    )
    func staleTags(fixture: CloudFixture) async throws {
        try await Self.run(fixture) { cloud, client in
            let tag = try await Self.save(["a"], on: client).records[0].get().recordChangeTag
            cloud.setFaults(FaultPlan(rules: [FaultRule(.staleTags, call: 1)]))
            let response = try await Self.save(["a"], on: client, tags: [tag])
            guard case .failure(let error) = response.records[0] else {
                Issue.record("The save succeeded")
                return
            }
            #expect(error.serverErrorCode == .conflict)
            let found = try await client.lookupRecords(
                LookupRecordsRequest(records: [.init(recordName: "a")], zoneID: Self.zone),
                in: .private
            )
            let fresh = try found.records[0].get().recordChangeTag
            #expect(fresh != tag)
            _ = try await Self.save(["a"], on: client, tags: [fresh]).records[0].get()
        }
    }

    @Test(
        "A token that expires stays expired, for its session only",
        arguments: CloudFixture.allCases
    )
    func expiredToken(fixture: CloudFixture) async throws {
        try await Self.run(fixture) { cloud, client in
            cloud.setFaults(FaultPlan(rules: [FaultRule(.expiredWebToken, call: 1)]))
            for _ in 0..<2 {
                let failure = await Self.failure { try await Self.save(["a"], on: client) }
                #expect(failure.code == .authenticationRequired)
            }
            let other = try await cloud.client(of: try await cloud.addUser("Bob"))
            _ = try await other.listZones(in: .private)
        }
    }

    @Test("Change tokens expire, and fetching again works", arguments: CloudFixture.allCases)
    func expiredChangeTokens(fixture: CloudFixture) async throws {
        try await Self.run(fixture) { cloud, client in
            _ = try await Self.save(["a"], on: client)
            let first = try await client.zoneChanges(
                ZoneChangesRequest(zones: [.init(zoneID: Self.zone)]),
                in: .private
            )
            let token = try first.zones[0].get().syncToken
            cloud.setFaults(FaultPlan(rules: [FaultRule(.expiredChangeTokens, call: 1)]))
            let second = try await client.zoneChanges(
                ZoneChangesRequest(zones: [.init(zoneID: Self.zone, syncToken: token)]),
                in: .private
            )
            guard case .failure(let error) = second.zones[0] else {
                Issue.record("The token is still good")
                return
            }
            #expect(error.serverErrorCode == .changeTokenExpired)
            #expect(try await Self.names(client) == ["a"])
        }
    }

    @Test("Assets are lost on their way like records", arguments: CloudFixture.allCases)
    func assets(fixture: CloudFixture) async throws {
        try await Self.run(fixture) { cloud, client in
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("FaultTests-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("file")
            try Data(count: 10_000).write(to: file)
            // An address accepts one upload, even one whose response was lost.
            func address() async throws -> UploadAssetsResponse.Token {
                try await client.uploadTokens(
                    UploadAssetsRequest(
                        zoneID: Self.zone,
                        tokens: [.init(recordName: "a", recordType: "Note", fieldName: "image")]
                    ),
                    in: .private
                ).tokens[0]
            }
            let first = try await address()
            cloud.setFaults(
                FaultPlan(rules: [
                    FaultRule(.lostResponse, operation: "assets/send", call: 1),
                    FaultRule(.error(.tryAgainLater), operation: "assets/send", call: 2),
                    FaultRule(.cutResponse(bytes: 100), operation: "assets/fetch", call: 1),
                    FaultRule(.error(.notFound), operation: "assets/fetch", call: 2),
                ])
            )
            let lost = await Self.failure { try await client.upload(file, to: first) }
            #expect(lost.transport == .broken)
            let second = try await address()
            let late = await Self.failure { try await client.upload(file, to: second) }
            #expect(late.code == .tryAgainLater)
            let asset = try await client.upload(file, to: second)
            let field = WireField(.asset(asset))
            let saved = try await client.modifyRecords(
                ModifyRecordsRequest(
                    operations: [
                        RecordOperation(
                            .create,
                            WireRecord(
                                recordName: "a",
                                recordType: "Note",
                                fields: ["image": field]
                            )
                        )
                    ],
                    zoneID: Self.zone
                ),
                in: .private
            )
            guard case .asset(let stored) = try saved.records[0].get().fields["image"]?.value
            else {
                Issue.record("No asset came back")
                return
            }
            let copy = folder.appendingPathComponent("copy")
            let cut = await Self.failure { try await client.download(stored, to: copy) }
            #expect(cut.transport == .broken)
            let gone = await Self.failure { try await client.download(stored, to: copy) }
            #expect(gone.transport == .notFound)
            #expect(!FileManager.default.fileExists(atPath: copy.path))
            try await client.download(stored, to: copy)
            #expect(try Data(contentsOf: copy) == Data(count: 10_000))
        }
    }
}
