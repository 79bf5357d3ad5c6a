import Foundation
import Testing

@Suite("Routes for operators and their commands")
struct OperatorRouteTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The command for each route, by the pattern that selects the route in the sources.
    private static let commands = [
        #"GET ["faults"]"#: "faults list",
        #"PUT ["faults"]"#: "faults set",
        #"POST ["faults"]"#: "faults add",
        #"DELETE ["faults"]"#: "faults clear",
        #"DELETE 2, "faults""#: "faults remove",
        #"GET ["journal"]"#: "requests list",
        #"GET 2, "journal""#: "requests show",
        #"DELETE ["journal"]"#: "requests clear",
        #"GET ["clock"]"#: "clock show",
        #"POST ["clock"]"#: "clock advance",
        #"GET 1, "overview""#: "overview",
        #"POST ["reset"]"#: "containers reset",
        #"POST ["expire-change-tokens"]"#: "containers expire-change-tokens",
        #"POST ["delete-zones"]"#: "containers delete-zones",
        #"GET ["users"]"#: "users list",
        #"POST ["users"]"#: "users add",
        #"DELETE 4, "users""#: "users delete", #"DELETE 5, "users""#: "users sign-out",
        #"GET 5, "users""#: "users roles",
        #"PUT 5, "users""#: "users roles",
        #"POST ["api-tokens"]"#: "tokens api",
        #"POST 3, "containers""#: "tokens web-auth",
        #"POST 3, "server-keys""#: "tokens server-key",
        #"GET 3, "credentials""#: "tokens list",
        #"DELETE 4, "credentials""#: "tokens revoke",
        #"GET []"#: "schema export",
        #"PUT []"#: "schema import",
        #"POST ["deploy"]"#: "schema deploy",
        #"GET 0"#: "snapshots list",
        #"PUT 1"#: "snapshots take",
        #"DELETE 1"#: "snapshots delete",
        #"POST 2"#: "snapshots restore",
        #"GET 5, "snapshots""#: "snapshots diff",
        #"GET 3, "devices""#: "devices list",
        #"GET 3, "pushes""#: "pushes list",
        #"POST 3, "test-pushes""#: "pushes test",
    ]

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Returns whether there is a command; an unknown one is refused with status 2.
    private static func exists(_ command: String) async throws -> Bool {
        try await CommandProcess.run(["help"] + command.split(separator: " ").map(String.init))
            .status == 0
    }

    /// Returns the patterns that select routes in a source, by method and path.
    private static func routes(in source: String) -> [String] {
        source.matches(of: /case \("([A-Z]+)", (.+?)\)(?: where [^:]+)?:/)
            .map { "\($0.1) \($0.2)" }
    }

    @Test("Each route has a command")
    func routes() throws {
        var found: Set<String> = []
        for file in ["Administration", "Inspection", "Overview"] {
            let source = try Self.text("Sources/CloudKitServer/HTTP/HTTPAdapter+\(file).swift")
            let routes = Self.routes(in: source)
            #expect(routes.count == source.matches(of: /case \("/).count, "\(file)")
            found.formUnion(routes)
        }
        #expect(found.subtracting(Self.commands.keys) == [], "add a command for these routes")
        #expect(Set(Self.commands.keys).subtracting(found) == [], "there are no such routes")
    }

    @Test("A new route is found, whatever selects it")
    func newRoute() {
        let source = """
            case ("GET", ["news"]): return try news()
            case ("POST", 4, "news") where path[3] == "x": return nil
            """
        #expect(Self.routes(in: source) == [#"GET ["news"]"#, #"POST 4, "news""#])
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
