public import CloudKitServerCore
import CloudKitWire
import Foundation

/// Sends the requests of rows to a service and reports different responses.
public struct ConformanceRun: Sendable {
    /// A closure that opens a connection to the service of a world.
    public typealias Opening =
        @Sendable (
            _ service: CloudService,
            _ use: @escaping @Sendable (any ConformanceConnection) async throws -> [String]
        ) async throws -> [String]

    /// A direct connection to the service.
    public static let inProcess: Opening = { service, use in
        try await use(ServiceConnection(service))
    }

    /// Runs an area; returns each row that differs, and the difference.
    public static func play(_ area: ConformanceArea, _ open: Opening) async throws -> [String] {
        if area.isShared {
            return try await inWorld(of: area, open) { run in
                var found: [String] = []
                for row in area.rows { found += try await run.play(row) }
                return found
            }
        }
        var found: [String] = []
        for row in area.rows {
            found += try await inWorld(of: area, open) { run in try await run.play(row) }
        }
        return found
    }

    private static func inWorld(
        of area: ConformanceArea,
        _ open: Opening,
        _ play: @escaping @Sendable (ConformanceRun) async throws -> [String]
    ) async throws -> [String] {
        let cloud = try await FixtureCloud(
            environment: area.environment,
            configuration: area.configuration
        )
        if let schema = area.schema {
            _ = try await cloud.service.importSchema(
                schema,
                container: FixtureCloud.container,
                environment: area.environment
            )
        }
        let users = try await ["ada", "bob", "cleo"].asyncMap { name in
            try await cloud.addUser(name, emailAddress: "\(name)@example.com")
        }
        return try await open(cloud.service) { door in
            var run = ConformanceRun(area: area, cloud: cloud, door: door, users: users)
            var found: [String] = []
            for step in area.given { found += try await run.perform(step, "before the rows") }
            return try await found + play(run)
        }
    }

    private let area: ConformanceArea
    private let cloud: FixtureCloud
    private let door: any ConformanceConnection
    private var users: [String: FixtureCloud.User] = [:]
    private var names: [String: JSON] = [:]

    private init(
        area: ConformanceArea,
        cloud: FixtureCloud,
        door: any ConformanceConnection,
        users: [FixtureCloud.User]
    ) {
        self.area = area
        self.cloud = cloud
        self.door = door
        names["apiToken"] = .string(cloud.apiToken)
        names["container"] = .string(FixtureCloud.container)
        for user in users {
            let name = user.user.givenName ?? ""
            self.users[name] = user
            names[name] = .string(user.name)
            names[name + "Token"] = .string(FixtureCloud.escape(user.token))
        }
    }

    private func play(_ row: ConformanceRow) async throws -> [String] {
        var run = self
        do {
            for step in row.before {
                let found = try await run.perform(step, "\(row.name): before")
                if !found.isEmpty { return found }
            }
            return try await run.perform(row.step, row.name)
        } catch let error as JSON.UnboundName {
            return ["\(row.name): \(error)"]
        }
    }

    /// Sends a step's request and compares the response.
    private mutating func perform(_ step: JSON, _ name: String) async throws -> [String] {
        var names = names
        if case .object(let bound) = step.with {
            names.merge(try bound.mapValues { try $0.filled(names) }) { $1 }
        }
        if let seconds = step.advance.integer { cloud.clock.advance(seconds: seconds) }
        let response = try await door.send(try request(step, names))
        var found: [String] = []
        let status = step.status.integer ?? 200
        if response.status != Int(status) {
            found.append("status \(response.status) instead of \(status): \(response.body)")
        }
        found += response.body.mismatches(try step.response.pattern(names), binding: &names)
        if let code = step.code.text, response.code != code {
            found.append("code \(response.code ?? "none") instead of \(code)")
        }
        if let reason = step.reason.text?.filled(names), !response.reason.contains(reason) {
            found.append("reason '\(response.reason)' instead of '\(reason)'")
        }
        let records = response.records.map(\.recordName)
        if step["names"] != .null, records != (try step["names"].filled(names)).elements {
            found.append("records \(records) instead of \(step["names"])")
        }
        let set = try step.set.filled(names)
        if step.set != .null,
            Set(records) != Set(set.elements) || records.count != set.elements.count
        {
            found.append("records \(records) instead of \(set) in any order")
        }
        // Names that the pattern bound stay bound; the row's own bindings do not.
        if case .object(let bound) = step.with { for key in bound.keys { names[key] = nil } }
        self.names = names
        return found.map { "\(name): \($0)" }
    }

    private func request(_ step: JSON, _ names: [String: JSON]) throws -> ConformanceRequest {
        let method = step.method.text ?? "POST"
        var headers: [(name: String, value: String)] = []
        if case .object(let fields) = try step.headers.filled(names) {
            headers = fields.compactMap { field in field.value.text.map { (field.key, $0) } }
        }
        if let url = try step.url.filled(names).text, url != "" {
            let bytes = Data(repeating: 7, count: Int(step.bytes.integer ?? 0))
            let path = url.split(separator: "/").dropFirst(2).joined(separator: "/")
            return ConformanceRequest(
                method: method,
                path: "/" + path,
                query: "",
                headers: headers,
                body: bytes
            )
        }
        let words = (step.to.text ?? "").filled(names).split(separator: " ")
        let prefix = "/database/1/\(FixtureCloud.container)/\(area.environment.rawValue)"
        let path =
            step.path.text?.filled(names) ?? "\(prefix)/\(words.joined(separator: "/"))"
        let body =
            if let raw = step.raw.text {
                Data(raw.utf8)
            } else if step.body == .null {
                Data()
            } else {
                try JSONEncoder().encode(try step.body.filled(names))
            }
        return ConformanceRequest(
            method: method,
            path: path,
            query: credentials(step, names) + (step.query.text ?? "").filled(names),
            headers: headers,
            body: body
        )
    }

    private func credentials(_ step: JSON, _ names: [String: JSON]) -> String {
        if let credentials = step.credentials.text { return credentials.filled(names) }
        let api = "ckAPIToken=\(cloud.apiToken)"
        guard let user = users[step["as"].text?.filled(names) ?? "ada"] else { return api }
        return api + "&ckWebAuthToken=" + FixtureCloud.escape(user.token)
    }
}

extension JSON {
    /// Returns a pattern with its names filled in; rules stay unchanged.
    fileprivate func pattern(_ names: [String: JSON]) throws -> JSON {
        if self == .null { return .object([:]) }
        return try filled(names)
    }
}

extension Array {
    fileprivate func asyncMap<Value>(
        _ transform: (Element) async throws -> Value
    ) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
