import CloudKitWebClient
import CloudKitWire
import Foundation
import Support
import Testing

@Suite("The web client")
struct WebClientTests {
    private static func client(
        _ transport: any Transport,
        webAuthToken: String? = nil
    ) -> WebClient {
        WebClient(
            url: "http://127.0.0.1:1/",
            container: "iCloud.test",
            environment: .development,
            credentials: WebCredentials(apiToken: "abc", webAuthToken: webAuthToken),
            transport: transport
        )
    }

    private static func echo(_ request: TransportRequest) throws -> TransportResponse {
        let body = try WireJSON.decode(ModifyRecordsRequest.self, from: request.body ?? Data())
        return TransportResponse(
            status: 200,
            body: try WireJSON.encode(
                RecordsResponse(records: body.operations.map { .success($0.record) })
            )
        )
    }

    private static func operations(_ count: Int, bytes: Int = 1) -> [RecordOperation] {
        (0..<count).map { index in
            var record = WireRecord(recordName: "n\(index)", recordType: "Note")
            record.fields["f"] = WireField(.string(String(repeating: "x", count: bytes)))
            return RecordOperation(.create, record)
        }
    }

    private static func send(
        _ operations: [RecordOperation],
        over transport: any Transport,
        atomic: Bool? = true
    ) async throws(WebClientError) -> [ItemResult<WireRecord>] {
        var responses: [ItemResult<WireRecord>] = []
        try await client(transport).modify(
            operations,
            zoneID: WireZoneID(zoneName: "Z"),
            atomic: atomic,
            in: .private
        ) { responses += $0 }
        return responses
    }

    @Test("Path, tokens and body stand where the protocol wants them; tokens are percent-encoded")
    func requestForm() async throws {
        let transport = ScriptedTransport { request, _ in try Self.echo(request) }
        var client = Self.client(transport, webAuthToken: "1__a+/=")
        client.clientID = "phone 1"
        _ = try await client.modifyRecords(
            ModifyRecordsRequest(operations: Self.operations(1)),
            in: .private
        )
        let request = try #require(transport.requests.first)
        #expect(request.method == "POST")
        #expect(
            request.url
                == "http://127.0.0.1:1/database/1/iCloud.test/development/private/records/modify"
                + "?ckAPIToken=abc&ckWebAuthToken=1__a%2B%2F%3D&clientId=phone%201"
        )
    }

    @Test(
        "A batch is cut at 200 operations",
        arguments: [(0, 0), (1, 1), (200, 1), (201, 2), (401, 3)]
    )
    func countLimit(count: Int, requests: Int) async throws {
        let transport = ScriptedTransport { request, _ in try Self.echo(request) }
        let responses = try await Self.send(Self.operations(count), over: transport)
        #expect(responses.count == count)
        #expect(transport.requests.count == requests)
        for (index, response) in responses.enumerated() {
            #expect(try response.get().recordName == "n\(index)")
        }
    }

    @Test("A batch is cut before a request grows beyond what a server takes")
    func sizeLimit() async throws {
        let transport = ScriptedTransport { request, _ in try Self.echo(request) }
        let responses = try await Self.send(
            Self.operations(30, bytes: Limits.recordBytes - 1000),
            over: transport
        )
        #expect(responses.count == 30)
        #expect(transport.requests.count > 1)
        for request in transport.requests {
            #expect((request.body?.count ?? 0) <= Limits.requestBodyBytes)
        }
    }

    @Test("After an atomic request that failed no other is sent, and the rest says so")
    func atomicStop() async throws {
        let transport = ScriptedTransport { request, index in
            guard index == 1 else { return try Self.echo(request) }
            let body = try WireJSON.decode(ModifyRecordsRequest.self, from: request.body ?? Data())
            return TransportResponse(
                status: 200,
                body: try WireJSON.encode(
                    RecordsResponse(
                        records: body.operations.map {
                            .failure(
                                ItemError(.conflict, reason: "no", recordName: $0.record.recordName)
                            )
                        }
                    )
                )
            )
        }
        let responses = try await Self.send(Self.operations(600), over: transport)
        #expect(transport.requests.count == 2)
        #expect(responses.count == 600)
        #expect(responses[..<200].allSatisfy { (try? $0.get()) != nil })
        for response in responses[400...] {
            let error = #expect(throws: ItemError.self) { try response.get() }
            #expect(error?.serverErrorCode == .atomicError)
        }
    }

    @Test("What arrived before a request failed is handed over before the error is thrown")
    func partialFailure() async throws {
        let transport = ScriptedTransport { request, index in
            guard index == 0 else {
                throw TransportError(.broken, message: "The line went dead")
            }
            return try Self.echo(request)
        }
        var responses: [ItemResult<WireRecord>] = []
        await #expect(throws: WebClientError.self) {
            try await Self.client(transport).modify(
                Self.operations(300),
                zoneID: .defaultZone,
                atomic: nil,
                in: .private
            ) { responses += $0 }
        }
        #expect(responses.count == 200)
    }

    @Test("A refusal carries the service's code, reason and status")
    func refusal() async throws {
        let transport = ScriptedTransport { _, _ in
            TransportResponse(
                status: 404,
                body: try WireJSON.encode(
                    RequestError(.zoneNotFound, reason: "no zone Z", uuid: "u")
                )
            )
        }
        let error = await #expect(throws: WebClientError.self) {
            _ = try await Self.client(transport).listZones(in: .private)
        }
        guard case .refused(let refusal, status: 404) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.serverErrorCode == .zoneNotFound)
        #expect(error?.description == "ZONE_NOT_FOUND (404): no zone Z")
    }

    @Test("Responses are matched by the names in them, whatever their order")
    func order() async throws {
        func answering(_ names: String...) -> WebClient {
            let records = names.map { #"{"recordName":"\#($0)","recordType":"T"}"# }
            let body = #"{"records":[\#(records.joined(separator: ","))]}"#
            let transport = ScriptedTransport { _, _ in .ok(body) }
            return Self.client(transport)
        }
        func found(_ client: WebClient, _ names: String...) async throws -> [String?] {
            try await client.lookup(names, zoneID: .defaultZone, in: .private)
                .map { try $0.get().recordName }
        }
        #expect(try await found(answering("c", "b", "a"), "a", "b", "c") == ["a", "b", "c"])
        #expect(try await found(answering("a", "a"), "a", "a") == ["a", "a"])
        for client in [answering("a", "x"), answering("b", "b")] {
            let error = await #expect(throws: WebClientError.self) {
                try await found(client, "a", "b")
            }
            guard case .unexpectedResponse(200, let message, nil) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(message.contains("No result is about the record"))
        }
        let operations = ["a", "b"].map {
            RecordOperation(.forceDelete, WireRecord(recordName: $0))
        }
        var names: [String?] = []
        try await answering("b", "a").modify(
            operations,
            zoneID: .defaultZone,
            atomic: nil,
            in: .private
        ) { names += $0.map { try? $0.get().recordName } }
        #expect(names == ["a", "b"])
    }

    @Test("A response of something else than the service is recognised by its start")
    func foreignResponse() async {
        for status in [200, 502] {
            let transport = ScriptedTransport { _, _ in
                TransportResponse(status: status, body: Data("<html>Bad gateway</html>".utf8))
            }
            let error = await #expect(throws: WebClientError.self) {
                _ = try await Self.client(transport).listZones(in: .private)
            }
            guard case .unexpectedResponse(status, "24 bytes of an unknown type", nil) = error
            else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test("A fresh web auth token replaces the old one, on error responses too")
    func tokenRotation() async throws {
        let transport = ScriptedTransport { _, index in
            TransportResponse(
                status: index == 0 ? 500 : 200,
                headers: ["x-apple-cloudkit-web-auth-token": "t\(index + 1)"],
                body: Data(#"{"zones":[]}"#.utf8)
            )
        }
        var client = Self.client(transport, webAuthToken: "t0")
        client.clientID = nil
        _ = try? await client.listZones(in: .private)
        _ = try await client.listZones(in: .private)
        let tokens = transport.requests.compactMap {
            $0.url.firstMatch(of: /ckWebAuthToken=(\w+)/)?.1
        }
        #expect(tokens == ["t0", "t1"])
        #expect(client.credentials.webAuthToken == "t2")
    }

    @Test("Apple's service is asked for nothing that only this package's server knows")
    func extensions() async throws {
        for (url, isAsked) in [(WebClient.appleURL, false), ("http://127.0.0.1:1", true)] {
            let transport = ScriptedTransport { _, _ in
                TransportResponse(status: 200, body: Data(#"{"zones":[]}"#.utf8))
            }
            let client = WebClient(
                url: url,
                container: "iCloud.com.example",
                environment: .development,
                credentials: WebCredentials(apiToken: "a"),
                transport: transport
            )
            _ = try await client.listZones(in: .private)
            let request = try #require(transport.requests.first)
            #expect(request.url.contains("zoneShares=true") == isAsked)
        }
    }

    @Test("A container's name is one component of every path, whatever characters it has")
    func containerName() async throws {
        let transport = ScriptedTransport { _, _ in
            .ok(
                #"{"zones":[],"webcourierURL":"http://h/p","apnsToken":"t","#
                    + #""apnsEnvironment":"development"}"#
            )
        }
        let client = WebClient(
            url: "http://cloud.invalid",
            container: "a/b?c#d \u{e9}",
            environment: .development,
            credentials: WebCredentials(apiToken: "t"),
            transport: transport
        )
        _ = try await client.listZones(in: .private)
        _ = try await client.createToken()
        try await client.registerToken("t")
        let paths = transport.requests.map { $0.url.prefix { $0 != "?" } }
        let name = "a%2Fb%3Fc%23d%20%C3%A9"
        #expect(
            paths == [
                "http://cloud.invalid/database/1/\(name)/development/private/zones/list",
                "http://cloud.invalid/device/1/\(name)/development/tokens/create",
                "http://cloud.invalid/device/1/\(name)/development/tokens/register",
            ]
        )
    }

    @Test("A number that JSON does not know is refused before anything is sent")
    func infinity() async {
        let transport = ScriptedTransport { request, _ in try Self.echo(request) }
        var record = WireRecord(recordName: "n", recordType: "Note")
        record.fields["ratio"] = WireField(.double(.infinity))
        let error = await #expect(throws: WebClientError.self) {
            _ = try await Self.client(transport).modifyRecords(
                ModifyRecordsRequest(operations: [RecordOperation(.create, record)]),
                in: .public
            )
        }
        #expect(error?.description.contains("ratio") == true)
        #expect(transport.requests.isEmpty)
    }
}
