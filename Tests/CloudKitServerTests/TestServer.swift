import AsyncHTTPClient
import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import ServerFixtures

/// A server on a free loopback port with one container and one user, used over HTTP.
struct TestServer: Sendable {
    static let container = "iCloud.com.example.notes"

    let url: String
    let apiToken: String
    let webToken: String
    /// The service behind the server; nil if it is in another process.
    var service: CloudService?

    /// The number of requests that wait for a notification.
    var waitingRequests: Int { service?.waitingRequests ?? 0 }

    struct Response: Sendable {
        var status: Int
        var headers: [String: String]
        var data: Data
        var body: JSON { (try? JSON(data)) ?? .null }
    }

    /// Runs a test against a server that ends with it.
    static func run(
        _ configuration: CloudServer.Configuration = CloudServer.Configuration(),
        _ test: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        try await run(CloudServer(configuration: configuration, logger: logger), test)
    }

    /// Runs a test against an existing server, which ends with it.
    static func run(
        _ server: CloudServer,
        _ test: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let apiToken = try await server.service.addAPIToken(
            container: container,
            environment: .development
        )
        let user = try await server.service.addUser(container: container, name: "Ada")
        let webToken = try await server.service.addWebAuthToken(
            user: user,
            apiToken: apiToken,
            environment: .development
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            let url = try await server.url()
            try await test(
                TestServer(
                    url: url,
                    apiToken: apiToken,
                    webToken: webToken,
                    service: server.service
                )
            )
            group.cancelAll()
            while (try? await group.next()) != nil {}
        }
    }

    func send(
        _ url: String,
        method: String = "POST",
        headers: [(String, String)] = [],
        _ body: Data = Data()
    ) async throws -> Response {
        var request = HTTPClientRequest(url: url)
        request.method = .RAW(value: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        // The server may close an idle connection just when it is used again. One with `Connection:
        // close` is closed with the response, before all of a large body was sent.
        if body.count < 1 << 20 { request.headers.replaceOrAdd(name: "Connection", value: "close") }
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 100 << 20)
        var fields: [String: String] = [:]
        for header in response.headers { fields[header.name.lowercased()] = header.value }
        return Response(
            status: Int(response.status.code),
            headers: fields,
            data: Data(bytes.readableBytesView)
        )
    }

    /// Returns the URL of an endpoint of the private database, with credentials.
    func endpoint(_ endpoint: String, webToken: String? = nil) -> String {
        let token = FixtureCloud.escape(webToken ?? self.webToken)
        return "\(url)/database/1/\(Self.container)/development/private/\(endpoint)"
            + "?ckAPIToken=\(apiToken)&ckWebAuthToken=\(token)"
    }

    func call(_ endpoint: String, _ body: JSON) async throws -> Response {
        try await send(self.endpoint(endpoint), try JSONEncoder().encode(body))
    }

    func addZone(_ name: String) async throws {
        let zone: JSON = ["zoneID": ["zoneName": .string(name)]]
        let response = try await call(
            "zones/modify",
            ["operations": [["operationType": "create", "zone": zone]]]
        )
        precondition(response.status == 200)
    }

    func save(_ notes: [JSON], in zone: String = "Notes") async throws -> Response {
        try await call(
            "records/modify",
            ["zoneID": ["zoneName": .string(zone)], "operations": .array(notes)]
        )
    }

    /// Returns the names of all records of a zone.
    func names(in zone: String = "Notes") async throws -> [String] {
        var names: [String] = []
        var token = JSON.null
        while true {
            let response = try await call(
                "changes/zone",
                ["zones": [["zoneID": ["zoneName": .string(zone)], "syncToken": token]]]
            )
            let page = response.body.zones[0]
            names += page.records.elements.compactMap(\.recordName.text)
            token = page.syncToken
            if page.moreComing != true { return names }
        }
    }
}
