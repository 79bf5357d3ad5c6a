import CloudKitServer
import Foundation
import Testing

@Suite("Routes for operators and their commands")
struct OperatorRouteTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The command for each route.
    private static let commands = [
        "GET faults": "faults list",
        "PUT faults": "faults set",
        "POST faults": "faults add",
        "DELETE faults": "faults clear",
        "DELETE faults/{number}": "faults remove",
        "GET journal": "requests list",
        "GET journal/{number}": "requests show",
        "DELETE journal": "requests clear",
        "GET clock": "clock show",
        "POST clock": "clock advance",
        "GET overview": "overview",
        "POST containers/{id}/reset": "containers reset",
        "POST containers/{id}/expire-change-tokens": "containers expire-change-tokens",
        "POST containers/{id}/delete-zones": "containers delete-zones",
        "GET containers/{id}/users": "users list",
        "POST containers/{id}/users": "users add",
        "DELETE containers/{id}/users/{recordName}": "users delete",
        "DELETE containers/{id}/users/{recordName}/sessions": "users sign-out",
        "GET containers/{id}/users/{recordName}/roles": "users roles",
        "PUT containers/{id}/users/{recordName}/roles": "users roles",
        "POST containers/{id}/api-tokens": "tokens api",
        "POST containers/{id}/sessions": "tokens web-auth",
        "POST containers/{id}/server-keys": "tokens server-key",
        "GET containers/{id}/credentials": "tokens list",
        "DELETE containers/{id}/credentials/{credential}": "tokens revoke",
        "GET containers/{id}/schemas/{environment}": "schema export",
        "PUT containers/{id}/schemas/{environment}": "schema import",
        "POST containers/{id}/schemas/production/deploy": "schema deploy",
        "GET containers/{id}/snapshots": "snapshots list",
        "PUT containers/{id}/snapshots/{name}": "snapshots take",
        "DELETE containers/{id}/snapshots/{name}": "snapshots delete",
        "POST containers/{id}/snapshots/{name}/restore": "snapshots restore",
        "GET containers/{id}/snapshots/{name}/differences": "snapshots diff",
        "GET containers/{id}/devices": "devices list",
        "GET containers/{id}/pushes": "pushes list",
        "POST containers/{id}/test-pushes": "pushes test",
    ]

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Returns whether there is a command; an unknown one is refused with status 2.
    private static func exists(_ command: String) async throws -> Bool {
        try await CommandProcess.run(["help"] + command.split(separator: " ").map(String.init))
            .status == 0
    }

    @Test("Each route has a command")
    func routes() {
        let found = Set(OperatorRoute.all.map { "\($0.method) \($0.path)" })
        #expect(found.count == OperatorRoute.all.count, "a route is there twice")
        #expect(found.subtracting(Self.commands.keys) == [], "add a command for these routes")
        #expect(Set(Self.commands.keys).subtracting(found) == [], "there are no such routes")
    }

    @Test("The reference has each route, with the parameters and keys that it reads")
    func reference() throws {
        let page = try Self.text("docs/reference/operator-routes.md")
        var written: [String: String] = [:]
        let rows = page.matches(
            of: /(?m)^\| `([A-Z]+) \/_ck\/([^`?]+)(?:\?([^`]*))?` \| ([^|]+) \|/
        )
        for row in rows {
            let parameters = row.3.map { $0.split(separator: "&") } ?? []
            let names = parameters.map { String($0.prefix { $0 != "=" }) }
            written["\(row.1) \(row.2)"] = (names + [String(row.4)]).joined(separator: " ")
        }
        var routes: [String: String] = [:]
        for route in OperatorRoute.all {
            let keys = route.keys.map { "`\($0)`" }.joined(separator: ", ")
            let body =
                route.keys.isEmpty ? "–" : keys + (route.isBodyOptional ? ", or no body" : "")
            routes["\(route.method) \(route.path)"] =
                (route.parameters + [body]).joined(separator: " ")
        }
        #expect(written == routes)
    }

    @Test("The commands exist", arguments: commands.values.sorted())
    func exist(command: String) async throws {
        #expect(try await Self.exists(command))
    }

    @Test("The dashboard's guide names existing commands for each room")
    func rooms() async throws {
        let guide = try Self.text("docs/guides/dashboard.md")
        let rows = guide.split(separator: "\n").filter { $0.hasPrefix("| **") }
        #expect(rows.count == 12)
        for row in rows {
            // The words before the arguments.
            let commands = row.matches(of: /`cloudkit ([a-z]+(?: [a-z][a-z-]*)*)(?: [^`]*)?`/)
                .map { String($0.1) }
            #expect(commands.count == row.matches(of: /`cloudkit/).count, "\(row)")
            #expect(!commands.isEmpty, "\(row)")
            for command in commands {
                #expect(try await Self.exists(command), "\(command)")
            }
        }
    }
}
