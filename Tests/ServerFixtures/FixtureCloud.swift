public import CloudKitServerCore
import CloudKitServerSQLite
public import CloudKitWire
public import Foundation

/// A service in memory with one container, accessed with JSON.
public struct FixtureCloud: Sendable {
    public static let container = "iCloud.com.example.notes"

    public let service: CloudService
    /// The storage for the bytes of assets.
    public let assets: any AssetStorage
    public let clock: FixtureClock
    public let apiToken: String
    public let environment: ServiceEnvironment
    /// The connection that requests use.
    let door: any ConformanceConnection

    /// Opens the connection to the service of a new cloud; nil when requests stay in the process.
    @TaskLocal public static var opening:
        (@Sendable (CloudService) async throws -> any ConformanceConnection)?

    /// Creates the storage of a new cloud; nil for one in memory.
    @TaskLocal public static var newStorage: (@Sendable () async throws -> any Storage)?

    /// A response: its status and its body.
    public struct Response: Sendable {
        public var status: Int
        public var body: JSON
        public var headers: [String: String] = [:]

        public init(_ response: ServiceResponse) throws {
            status = response.status
            body = response.body.isEmpty ? .null : try JSON(response.body)
            for (name, value) in response.headers { headers[name] = value }
        }

        public var code: String? { body.serverErrorCode.text }
        public var reason: String { body.reason.text ?? "" }
        public var records: [JSON] { body.records.elements }
    }

    /// A user with a token.
    public struct User: Sendable {
        public var user: ServiceUser
        public var token: String
        public var name: String { user.userRecordName }

        public init(user: ServiceUser, token: String) {
            self.user = user
            self.token = token
        }
    }

    public init(
        environment: ServiceEnvironment = .development,
        configuration: ServiceConfiguration = ServiceConfiguration(),
        storage: (any Storage)? = nil,
        assets: (any AssetStorage)? = nil
    ) async throws {
        clock = FixtureClock()
        self.environment = environment
        let files = try assets ?? FileAssetStorage.temporary()
        self.assets = files
        let given = if let storage { storage } else { try await Self.newStorage?() }
        service = CloudService(
            storage: try given ?? SQLiteStorage(path: nil),
            assets: files,
            configuration: configuration,
            clock: clock,
            randomness: FixtureRandomness()
        )
        apiToken = try await service.addAPIToken(
            container: Self.container,
            environment: environment
        )
        door = try await Self.opening?(service) ?? ServiceConnection(service)
    }

    /// Creates another node of a cloud: a service of its own on another storage of the same data.
    public init(nodeOf cloud: FixtureCloud, storage: any Storage) {
        clock = cloud.clock
        assets = cloud.assets
        apiToken = cloud.apiToken
        environment = cloud.environment
        service = CloudService(
            storage: storage,
            assets: assets,
            clock: clock,
            randomness: FixtureRandomness(seed: 3)
        )
        door = ServiceConnection(service)
    }

    public func addUser(
        _ name: String = "Ada Lovelace",
        emailAddress: String? = nil
    ) async throws -> User {
        let user = try await service.addUser(
            container: Self.container,
            name: name,
            emailAddress: emailAddress
        )
        let token = try await service.addWebAuthToken(
            user: user,
            apiToken: apiToken,
            environment: environment
        )
        return User(user: user, token: token)
    }

    /// Calls an endpoint with a JSON body.
    public func call(
        _ endpoint: String,
        _ database: DatabaseScope = .private,
        as user: User? = nil,
        query: String = "",
        method: String = "POST",
        _ body: JSON = [:]
    ) async throws -> Response {
        let data = try JSONEncoder().encode(body)
        return try await send(endpoint, database, as: user, query: query, method: method, data)
    }

    /// Calls an endpoint with any body.
    public func send(
        _ endpoint: String,
        _ database: DatabaseScope = .private,
        as user: User? = nil,
        query: String = "",
        method: String = "POST",
        _ body: Data
    ) async throws -> Response {
        var parameters = "ckAPIToken=\(apiToken)"
        if let user { parameters += "&ckWebAuthToken=\(Self.escape(user.token))" }
        let prefix = "/database/1/\(Self.container)/\(environment.rawValue)/\(database.rawValue)"
        return try await door.send(
            ConformanceRequest(
                method: method,
                path: "\(prefix)/\(endpoint)",
                query: parameters + query,
                body: body
            )
        )
    }

    /// Sends any request.
    public func send(_ request: ConformanceRequest) async throws -> Response {
        try await door.send(request)
    }

    public static func escape(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}

extension FixtureCloud {
    /// Creates a zone.
    public func addZone(_ name: String, as user: User) async throws {
        let response = try await call(
            "zones/modify",
            as: user,
            ["operations": [["operationType": "create", "zone": ["zoneID": Self.zone(name)]]]]
        )
        precondition(response.body.zones[0].serverErrorCode == .null, "\(response)")
    }

    public static func zone(_ name: String) -> JSON { ["zoneName": .string(name)] }

    /// Runs operations on one zone.
    public func modify(
        _ zone: String = "Notes",
        as user: User?,
        database: DatabaseScope = .private,
        atomic: Bool? = nil,
        query: String = "",
        _ operations: [JSON]
    ) async throws -> Response {
        var body: [String: JSON] = ["zoneID": Self.zone(zone), "operations": .array(operations)]
        if let atomic { body["atomic"] = .bool(atomic) }
        return try await call("records/modify", database, as: user, query: query, .object(body))
    }

    public func lookUp(
        _ names: [String],
        in zone: String = "Notes",
        as user: User?,
        database: DatabaseScope = .private
    ) async throws -> Response {
        try await call(
            "records/lookup",
            database,
            as: user,
            [
                "zoneID": Self.zone(zone),
                "records": .array(names.map { ["recordName": .string($0)] }),
            ]
        )
    }

    public func changes(
        in zone: String = "Notes",
        as user: User,
        after token: JSON = .null,
        limit: Int64 = 200
    ) async throws -> JSON {
        let response = try await call(
            "changes/zone",
            as: user,
            [
                "zones": [
                    [
                        "zoneID": Self.zone(zone), "syncToken": token,
                        "resultsLimit": .int(limit),
                    ]
                ]
            ]
        )
        return response.body.zones[0]
    }

    /// Returns an operation on a Note.
    public static func note(
        _ kind: String,
        _ name: String,
        _ fields: JSON = [:],
        tag: JSON = .null,
        type: JSON = "Note"
    ) -> JSON {
        [
            "operationType": .string(kind),
            "record": [
                "recordName": .string(name), "recordType": type, "recordChangeTag": tag,
                "fields": fields,
            ],
        ]
    }
}
