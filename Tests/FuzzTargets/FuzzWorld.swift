import CloudKitServerCore
import CloudKitWire
public import Foundation
import ServerFixtures

/// A service with some data, which receives one input after another.
public struct FuzzWorld: Sendable {
    private let cloud: FixtureCloud
    private let ada: FixtureCloud.User

    /// An error for a response that no input may cause.
    public struct Problem: Error, CustomStringConvertible {
        public var description: String
    }

    public init() async throws {
        cloud = try await FixtureCloud()
        _ = try await cloud.service.importSchema(
            Self.schema,
            container: FixtureCloud.container,
            environment: .development
        )
        ada = try await cloud.addUser()
        try await cloud.addZone("Notes", as: ada)
        let fields: JSON = [
            "s": ["value": "Milk and eggs"], "n": ["value": 7], "x": ["value": 0.5],
            "t": ["value": 5, "type": "TIMESTAMP"], "l": ["value": ["a", "b"]],
            "p": ["value": ["latitude": 51.5, "longitude": -0.25]],
            "r": ["value": ["recordName": "a", "action": "NONE"]],
        ]
        _ = try await cloud.modify(
            as: ada,
            ["a", "b"].map { FixtureCloud.note("create", $0, fields) }
        )
    }

    private static let schema = """
        DEFINE SCHEMA
        RECORD TYPE Note ("___recordID" REFERENCE QUERYABLE SORTABLE,
            "___modTime" TIMESTAMP QUERYABLE SORTABLE, s STRING QUERYABLE SORTABLE SEARCHABLE,
            n INT64 QUERYABLE SORTABLE, x DOUBLE QUERYABLE SORTABLE, t TIMESTAMP QUERYABLE SORTABLE,
            l LIST<STRING> QUERYABLE SEARCHABLE, p LOCATION QUERYABLE SORTABLE,
            r REFERENCE QUERYABLE, e ENCRYPTED STRING, bare STRING);
        """

    /// Passes an input to a target.
    ///
    /// - Throws: `Problem` for a response that no input may cause.
    public func run(_ target: FuzzTarget, _ input: Data) async throws {
        switch target {
        case .requests: try await request(input)
        case .queries: try await query(input)
        case .schemas: try Self.schema(input)
        case .tokens: try await token(input)
        }
    }

    /// Sends a request: the first byte chooses endpoint and database, the rest is the body.
    private func request(_ input: Data) async throws {
        let choice = Int(input.first ?? 0)
        let endpoints = Endpoint.allCases
        let databases: [DatabaseScope] = [.private, .public, .shared]
        try await send(
            endpoints[choice % endpoints.count],
            databases[choice / endpoints.count % databases.count],
            Data(input.dropFirst())
        )
    }

    /// Runs a query from lines: the record type, then filters and sorts, each of words; see the corpus.
    private func query(_ input: Data) async throws {
        var filters: [JSON] = []
        var sorts: [JSON] = []
        let text = String(decoding: input, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines.dropFirst() {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            if words.first == "sort" {
                sorts.append([
                    "fieldName": .string(words.count > 1 ? words[1] : ""),
                    "ascending": .bool(words.count < 3),
                ])
            } else if words.count == 4 {
                let value = (try? JSON(Data(words[3].utf8))) ?? .string(words[3])
                filters.append([
                    "fieldName": .string(words[0]), "comparator": .string(words[1]),
                    "fieldValue": [
                        "type": words[2] == "-" ? .null : .string(words[2]), "value": value,
                    ],
                    "distance": 1000,
                ])
            }
        }
        let body: JSON = [
            "zoneID": ["zoneName": "Notes"],
            "query": [
                "recordType": .string(String(lines.first ?? "")), "filterBy": .array(filters),
                "sortBy": .array(sorts),
            ],
        ]
        try await send(.recordsQuery, .private, try JSONEncoder().encode(body))
    }

    /// Checks that a text that is a schema is the same after it was written and read again.
    private static func schema(_ input: Data) throws {
        let text = String(decoding: input, as: UTF8.self)
        do {
            try CloudService.validateSchema(text)
        } catch {
            return
        }
        let changes = try CloudService.schemaChanges(from: text, to: text)
        guard changes.isEmpty else { throw Problem(description: "A schema differs from itself") }
    }

    /// Uses a token: the first byte chooses where the rest is passed as a token, as text or in
    /// base64.
    private func token(_ input: Data) async throws {
        let choice = input.first ?? 0
        let bytes = Data(input.dropFirst())
        let text =
            choice & 0x80 == 0
            ? String(decoding: bytes, as: UTF8.self) : bytes.base64EncodedString()
        let token = JSON.string(text)
        let zone: JSON = ["zoneName": "Notes"]
        let body: (Endpoint, JSON)
        switch choice % 8 {
        case 0: body = (.changesZone, ["zones": [["zoneID": zone, "syncToken": token]]])
        case 1: body = (.changesDatabase, ["syncToken": token])
        case 2:
            body = (
                .recordsQuery,
                ["zoneID": zone, "query": ["recordType": "Note"], "continuationMarker": token]
            )
        case 3: body = (.recordsResolve, ["shortGUIDs": [["value": token]]])
        case 4:
            let record: JSON = [
                "recordName": "f", "recordType": "Note",
                "fields": ["file": ["value": ["receipt": token, "size": 1]]],
            ]
            body = (
                .recordsModify,
                ["zoneID": zone, "operations": [["operationType": "create", "record": record]]]
            )
        case 5:
            try check(
                await cloud.service.receiveAsset(token: text, body: AsyncStream { $0.finish() })
            )
            return
        case 6:
            _ = try? await cloud.service.openAsset(token: text)
            return
        default:
            let user = FixtureCloud.User(user: ada.user, token: "158__54__" + text)
            let response = try await cloud.call("zones/list", as: user)
            guard response.status == 421 || text == ada.token.dropFirst("158__54__".count) else {
                throw Problem(description: "A forged token was answered with \(response.status)")
            }
            return
        }
        try await send(body.0, .private, try JSONEncoder().encode(body.1))
    }

    private func send(_ endpoint: Endpoint, _ database: DatabaseScope, _ body: Data) async throws {
        let path = ServicePath(
            container: FixtureCloud.container,
            environment: .development,
            database: database,
            endpoint: endpoint
        )
        try check(
            await cloud.service.respond(
                to: ServiceRequest(
                    method: "POST",
                    path: path.description,
                    query: "ckAPIToken=\(cloud.apiToken)&ckWebAuthToken="
                        + FixtureCloud.escape(ada.token),
                    body: body,
                    baseURL: "http://cloud.test"
                )
            )
        )
    }

    /// Checks that the response is JSON, and that the service does not fail, whatever the input.
    private func check(_ response: ServiceResponse) throws {
        guard response.status != 500 else {
            throw Problem(description: String(decoding: response.body, as: UTF8.self))
        }
        guard (try? JSON(response.body)) != nil else {
            throw Problem(
                description: "No JSON: " + String(decoding: response.body, as: UTF8.self)
            )
        }
    }
}
