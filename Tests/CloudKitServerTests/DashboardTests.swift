import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("The dashboard's files")
struct DashboardTests {
    /// The folder of the files in the sources.
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/CDashboard/Page").standardizedFileURL

    private static func get(
        _ server: TestServer,
        _ path: String,
        _ headers: (String, String)...
    ) async throws -> TestServer.Response {
        try await server.send(server.url + path, method: "GET", headers: headers)
    }

    /// Returns the number of bytes of a file as sent to a browser.
    private static func compressedBytes(_ server: TestServer, _ name: String) async throws -> Int {
        try await RawConnection.run(server) { connection in
            let headers = ["Host: 127.0.0.1", "Accept-Encoding: gzip"]
            try await connection.send("HEAD", "/_/" + name, headers)
            let head = try #require(try await connection.response(hasBody: false)).head
            let length = try #require(head.firstMatch(of: /Content-Length: (\d+)/)).1
            return try #require(Int(length))
        }
    }

    @Test("Every file of the folder is served as it stands there, with the type that it has")
    func files() async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(names.count > 10)
        try await TestServer.run { server in
            for name in names {
                let response = try await Self.get(server, "/_/\(name)")
                #expect(response.status == 200, "\(name)")
                let source = try Data(contentsOf: Self.folder.appending(path: name))
                #expect(response.data == source, "\(name)")
                let types = [
                    "html": "text/html", "css": "text/css", "js": "text/javascript",
                    "svg": "image/svg",
                ]
                let type = try #require(types[URL(filePath: name).pathExtension])
                #expect(response.headers["content-type"]?.hasPrefix(type) == true, "\(name)")
            }
            let page = try await Self.get(server, "/_/").data
            #expect(try await Self.get(server, "/_/index.html").data == page)
            // The client follows redirects.
            #expect(try await Self.get(server, "/_").data == page)
            #expect(try await Self.get(server, "/_/nothing.js").status == 404)
            #expect(try await Self.get(server, "/_/../api-token").status == 404)
            #expect(try await server.send(server.url + "/_/").status == 405)
        }
    }

    @Test(
        "The page may load its own files and this server's data, is framed by nobody, and takes no text for markup"
    )
    func policy() async throws {
        try await TestServer.run { server in
            for path in ["/_/", "/_/app.js"] {
                let headers = try await Self.get(server, path).headers
                let policy = try #require(headers["content-security-policy"]).split(separator: "; ")
                for rule in [
                    "default-src 'none'", "script-src 'self'", "style-src 'self'",
                    "connect-src 'self'",
                    "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
                    "require-trusted-types-for 'script'", "trusted-types 'none'",
                ] {
                    #expect(policy.contains { $0 == rule }, "\(rule)")
                }
                #expect(!policy.contains { $0.contains("unsafe") || $0.contains("*") })
                #expect(headers["x-frame-options"] == "DENY")
                #expect(headers["x-content-type-options"] == "nosniff")
                #expect(headers["cross-origin-opener-policy"] == "same-origin")
                #expect(headers["cross-origin-resource-policy"] == "same-origin")
            }
        }
    }

    @Test("No file names another host, or makes markup of text")
    func sources() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path) {
            let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
            let hosts = text.matches(of: /https?:\/\/[\w.]+/).map { String($0.output) }
            #expect(hosts.allSatisfy { $0 == "http://www.w3.org" }, "\(name): \(hosts)")
            for word in [
                "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                "new Function", "srcdoc",
            ] {
                #expect(!text.contains(word), "\(name): \(word)")
            }
        }
    }

    @Test("A file that a browser has is not sent again, and one that is sent may be compressed")
    func caching() async throws {
        try await TestServer.run { server in
            let file = try Data(contentsOf: Self.folder.appending(path: "app.js"))
            let plain = try await Self.get(server, "/_/app.js", ("Accept-Encoding", "identity"))
            #expect(plain.headers["content-encoding"] == nil)
            let small = try await Self.get(server, "/_/app.js", ("Accept-Encoding", "br, gzip"))
            #expect(small.headers["content-encoding"] == "gzip")
            #expect(small.headers["vary"] == "Accept-Encoding")
            #expect(small.headers["etag"] != plain.headers["etag"])
            // The client has decompressed it.
            #expect((plain.data, small.data) == (file, file))
            #expect(try await Self.compressedBytes(server, "app.js") < file.count / 2)
            for response in [plain, small] {
                let tag = try #require(response.headers["etag"])
                let again = try await Self.get(
                    server,
                    "/_/app.js",
                    ("If-None-Match", tag),
                    ("Accept-Encoding", response.headers["content-encoding"] ?? "identity")
                )
                #expect((again.status, again.data.count) == (304, 0))
            }
        }
    }

    @Test("The page's files stay below 120 kB when they are compressed")
    func size() async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        try await TestServer.run { server in
            var bytes = 0
            for name in names { bytes += try await Self.compressedBytes(server, name) }
            #expect(bytes < 120_000)
        }
    }

    @Test("The page's files add less than 1 MB to the program, whole and compressed together")
    func sizeInProgram() async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        try await TestServer.run { server in
            var bytes = 0
            for name in names {
                bytes += try await Self.get(server, "/_/\(name)").data.count
                bytes += try await Self.compressedBytes(server, name)
            }
            #expect(bytes < 1_000_000)
        }
    }

    @Test("Under a name that is not the server's there is no page")
    func host() async throws {
        try await TestServer.run { server in
            let response = try await Self.get(server, "/_/", ("Host", "evil.example"))
            #expect(response.status == 403)
            #expect(response.body.reason.text?.contains("evil.example") == true)
        }
    }

    @Test("A server that others can reach has the page only with a key of its operator's")
    func key() async throws {
        var configuration = CloudServer.Configuration()
        configuration.allowedHosts = ["cloud.example.com"]
        try await TestServer.run(configuration) { server in
            let response = try await Self.get(server, "/_/")
            #expect(response.status == 404)
            #expect(response.body.reason.text?.contains("key for operators") == true)
        }
        configuration.administrationKey = "a key that only tests know"
        try await TestServer.run(configuration) { server in
            let response = try await Self.get(server, "/_/")
            #expect(response.status == 200)
        }
    }

    @Test("Under its own origin the page opens, and says what lets it call the server")
    func ownOrigin() async throws {
        var configuration = CloudServer.Configuration()
        configuration.allowedHosts = ["cloud.example.com"]
        configuration.administrationKey = "a key that only tests know"
        try await TestServer.run(configuration) { server in
            func status(_ path: String, _ origin: String) async throws -> Int {
                let host = ("Host", "cloud.example.com:8787")
                return try await Self.get(server, path, host, ("Origin", origin)).status
            }
            let own = "http://cloud.example.com:8787"
            let statuses = [
                try await status("/_/app.js", own), try await status("/_ck/overview", own),
                try await status("/_/app.js", "http://evil.example"),
                try await status("/_/app.js", "http://cloud.example.com:9"),
            ]
            #expect(statuses == [200, 403, 403, 403])
        }
    }
}
