import CloudKitServer
import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("The service over HTTP")
struct HTTPTests {
    @Test("Records are saved and read back, with the headers that clients look for")
    func roundTrip() async throws {
        try await TestServer.run { server in
            try await server.addZone("Notes")
            let fields: JSON = ["title": ["value": "Milk \u{1F95B} \"2\\l\"\n"]]
            let saved = try await server.save([FixtureCloud.note("create", "n1", fields)])
            #expect(saved.status == 200)
            #expect(saved.headers["content-type"] == "application/json; charset=UTF-8")
            #expect(saved.headers["x-apple-request-uuid"] != nil)
            let found = try await server.call(
                "records/lookup",
                ["zoneID": ["zoneName": "Notes"], "records": [["recordName": "n1"]]]
            )
            #expect(found.body.records == saved.body.records)
            #expect(found.body.records[0].fields.title.value == fields.title.value)
        }
    }

    @Test("Bad requests get CloudKit's own errors and change nothing")
    func badRequests() async throws {
        try await TestServer.run { server in
            try await server.addZone("Notes")
            let url = server.endpoint("records/modify")
            func note(_ name: String, _ fields: JSON = [:]) -> JSON {
                FixtureCloud.note("create", name, fields)
            }
            let malformed = try await server.send(url, Data("{\"operations\":[".utf8))
            #expect((malformed.status, malformed.body.serverErrorCode) == (400, "BAD_REQUEST"))
            let type = try await server.save([note("a", ["x": ["value": 1, "type": "MAGIC"]])])
            #expect((type.status, type.body.serverErrorCode) == (400, "BAD_REQUEST"))
            #expect(type.body.reason.text?.contains("fields.x.type") == true)
            let zone = try await server.save([note("a")], in: "Nowhere")
            #expect((zone.status, zone.body.serverErrorCode) == (404, "ZONE_NOT_FOUND"))
            let many = try await server.save((0...200).map { note("a\($0)") })
            #expect((many.status, many.body.serverErrorCode) == (400, "BAD_REQUEST"))
            let large = String(repeating: "x", count: Limits.recordBytes)
            let size = try await server.save([note("a", ["x": ["value": .string(large)]])])
            #expect(size.status == 200)
            #expect(size.body.records[0].serverErrorCode == "BAD_REQUEST")
            let receipt: JSON = ["x": ["value": ["receipt": "AAAA", "size": 1]]]
            let asset = try await server.save([note("a", receipt)])
            #expect(asset.body.records[0].serverErrorCode == "BAD_REQUEST")
            let stale = try await server.save([FixtureCloud.note("update", "a", tag: "1")])
            #expect(stale.body.records[0].serverErrorCode == "NOT_FOUND")
            let token = server.endpoint("records/modify", webToken: "158__54__" + large.prefix(64))
            let wrong = try await server.send(token, Data("{}".utf8))
            #expect((wrong.status, wrong.body.serverErrorCode) == (421, "AUTHENTICATION_REQUIRED"))
            #expect(try await server.names() == [])
        }
    }

    @Test("Other names, foreign pages and compressed bodies are refused")
    func origins() async throws {
        try await TestServer.run { server in
            let url = server.endpoint("zones/list")
            let host = try await server.send(url, headers: [("Host", "evil.example")])
            #expect((host.status, host.body.serverErrorCode) == (403, "ACCESS_DENIED"))
            let origin = try await server.send(url, headers: [("Origin", "http://evil.example")])
            #expect(origin.status == 403)
            #expect(origin.headers["access-control-allow-origin"] == nil)
            let own = try await server.send(url, headers: [("Origin", "http://localhost:3000")])
            #expect(own.status == 200)
            #expect(own.headers["access-control-allow-origin"] == "http://localhost:3000")
            let preflight = try await server.send(
                url,
                method: "OPTIONS",
                headers: [("Origin", "http://localhost:3000")]
            )
            #expect(preflight.status == 200)
            let gzip = try await server.send(url, headers: [("Content-Encoding", "gzip")])
            #expect((gzip.status, gzip.body.serverErrorCode) == (400, "BAD_REQUEST"))
        }
    }

    @Test("The page that a client is sent to signs in a user for its API token")
    func signIn() async throws {
        try await TestServer.run { server in
            let base = "\(server.url)/database/1/\(TestServer.container)/development/private"
            let url = "\(base)/zones/list?ckAPIToken=\(server.apiToken)"
            let refused = try await server.send(url, headers: [("Origin", "http://localhost:3000")])
            #expect(refused.status == 421)
            let redirect = try #require(refused.body.redirectURL.text)
            let page = try await server.send(redirect, method: "GET")
            let html = String(decoding: page.data, as: UTF8.self)
            let name = try #require(html.split(separator: "\"").first { $0.hasPrefix("_") })
            let done = try await server.send(redirect, Data("user=\(name)".utf8))
            let text = String(decoding: done.data, as: UTF8.self)
            #expect(text.contains("http://localhost:3000"))
            let start = try #require(text.range(of: "158__54__")).lowerBound
            let token = text[start...].prefix { $0 != "<" }
            let response = try await server.send(
                server.endpoint("zones/list", webToken: String(token)),
                Data("{}".utf8)
            )
            #expect(response.status == 200)
            let unknown = try await server.send(server.url + "/sign-in", method: "GET")
            #expect(unknown.status == 404)
        }
    }

    @Test("A body beyond the limit is refused while it comes")
    func bodyLimit() async throws {
        let configuration = CloudServer.Configuration(
            idleSeconds: 15,
            service: ServiceConfiguration(requestBodyBytes: 10_000)
        )
        try await TestServer.run(configuration) { server in
            let response = try await server.send(
                server.endpoint("records/modify"),
                Data(count: 1_000_000)
            )
            #expect((response.status, response.body.serverErrorCode) == (400, "BAD_REQUEST"))
            // This one does not announce its length, and never ends.
            let endless = try await RawConnection.run(server) { connection in
                try await connection.send(
                    "POST \(server.target("records/modify")) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n4e20\r\n"
                        + String(repeating: " ", count: 20_000) + "\r\n"
                )
                return try await connection.response()
            }
            #expect(endless?.status == 400)
            // Its chunks are not the body, but a compressed form of it.
            let compressed = try await RawConnection.run(server) { connection in
                try await connection.send(
                    "POST \(server.target("records/modify")) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                        + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"
                )
                return try await connection.response()
            }
            #expect(compressed?.status == 400)
            #expect(compressed?.body.contains("Transfer-Encoding gzip, chunked") == true)
            #expect(endless?.body.contains("more than the allowed") == true)
            #expect(try await server.call("zones/list", [:]).status == 200)
        }
    }

    @Test("Assets go up and come down over HTTP")
    func assets() async throws {
        try await TestServer.run { server in
            try await server.addZone("Notes")
            let token: JSON = ["recordName": "n1", "recordType": "Note", "fieldName": "image"]
            let prepared = try await server.call(
                "assets/upload",
                ["zoneID": ["zoneName": "Notes"], "tokens": [token]]
            )
            let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
            let url = try #require(prepared.body.tokens[0].url.text)
            let uploaded = try await server.send(url, bytes)
            let field: JSON = ["image": ["value": uploaded.body.singleFile]]
            let saved = try await server.save([FixtureCloud.note("create", "n1", field)])
            let value = saved.body.records[0].fields.image.value
            let link = try #require(value.downloadURL.text)
            for link in [link, link + "/photo.jpg"] {
                let downloaded = try await server.send(link, method: "GET")
                #expect(downloaded.data == bytes)
                #expect(downloaded.headers["x-content-type-options"] == "nosniff")
            }
            let forged = try await server.send(String(link.dropLast(5)) + "AAAAA", method: "GET")
            #expect(forged.status == 404)
            let last = bytes.count - 1
            for (range, part) in [
                ("bytes=0-0", 0...0), ("bytes=65535-65536", 65_535...65_536),
                ("bytes=70000-", 70_000...last), ("bytes=-1", last...last),
                ("bytes=2999999-99999999999999999999", last...last),
                ("bytes=-9999999", 0...last), ("bytes=1-2,5-6", nil), ("bytes=2-1", nil),
                ("bytes=-", nil), ("bytes=a-b", nil), ("lines=1-2", nil),
            ] as [(String, ClosedRange<Int>?)] {
                let response = try await server.send(
                    link,
                    method: "GET",
                    headers: [("Range", range)]
                )
                #expect(response.status == (part == nil ? 200 : 206), "\(range)")
                #expect(response.data == part.map { bytes[$0] } ?? bytes, "\(range)")
                #expect(response.headers["accept-ranges"] == "bytes")
                let place = part.map { "bytes \($0.lowerBound)-\($0.upperBound)/3000000" }
                #expect(response.headers["content-range"] == place, "\(range)")
            }
            for range in ["bytes=3000000-", "bytes=-0"] {
                let response = try await server.send(
                    link,
                    method: "GET",
                    headers: [("Range", range)]
                )
                #expect(response.status == 416)
                #expect(response.headers["content-range"] == "bytes */3000000")
            }
            let changed = try await server.send(
                link,
                method: "GET",
                headers: [("Range", "bytes=0-0"), ("If-Range", "\"etag\"")]
            )
            #expect(changed.status == 200)
            let whole = try await server.send(link, method: "GET")
            let tag = try #require(whole.headers["etag"])
            #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
            let part = try await server.send(
                link,
                method: "GET",
                headers: [("Range", "bytes=0-0"), ("If-Range", tag)]
            )
            #expect((part.status, part.data) == (206, bytes.prefix(1)))
            for (tags, status) in [
                (tag, 304), ("W/\(tag)", 304), ("\"a\", \(tag)", 304), ("*", 304), ("\"a\"", 200),
                ("W/\"\"", 200), (String(tag.dropLast()), 200), (", ,", 200),
            ] {
                let response = try await server.send(
                    link,
                    method: "GET",
                    headers: [("If-None-Match", tags)]
                )
                #expect(response.status == status, "\(tags)")
                #expect(response.headers["etag"] == tag)
                #expect(response.data.isEmpty == (status == 304))
            }
        }
    }

    @Test("What is no request of HTTP gets CloudKit's own error, and so does CONNECT")
    func malformed() async throws {
        try await TestServer.run { server in
            for (text, words) in [
                ("HELLO\r\n\r\n", "not HTTP/1.1"),
                ("GET / HTTP/1.1\r\nA B: c\r\n\r\n", "not HTTP/1.1"),
                ("CONNECT example.com:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "Method CONNECT"),
            ] {
                try await RawConnection.run(server) { connection in
                    try await connection.send(text)
                    let found = try await connection.response()
                    let response = try #require(found, "\(text)")
                    #expect(response.status == 400)
                    let body = try JSON(Data(response.body.utf8))
                    #expect(body.serverErrorCode == "BAD_REQUEST")
                    #expect(body.reason.text?.contains(words) == true, "\(response.body)")
                    #expect(response.head.contains("X-Apple-Request-UUID"))
                }
            }
        }
    }

    @Test("An archive comes down as a file with a length and a name that no page can show")
    func archive() async throws {
        try await TestServer.run { server in
            try await server.addZone("Notes")
            _ = try await server.save([FixtureCloud.note("create", "a", ["title": ["value": "A"]])])
            let body: JSON = [
                "zoneID": ["zoneName": "Notes"], "pluginFields": [:], "archiveName": "my notes",
            ]
            let response = try await server.call("records/zip/prepare", body)
            let url = try #require(response.body.downloadURL.text)
            #expect(url.hasPrefix(server.url) && url.hasSuffix("/my_notes.zip"))
            let archive = try await server.send(url, method: "GET")
            #expect(archive.status == 200)
            #expect(archive.headers["content-disposition"] == "attachment")
            #expect(archive.headers["content-length"] == "\(archive.data.count)")
            #expect(archive.data.starts(with: Data("PK".utf8)))
            #expect(archive.data.range(of: Data("\"recordName\":\"a\"".utf8)) != nil)
            let forged = try await server.send(
                url.replacing("download/", with: "download/A"),
                method: "GET"
            )
            #expect(forged.status == 404)
        }
    }
}
