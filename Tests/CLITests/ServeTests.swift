import CloudKit
import CloudKitExtras
import Foundation
import Testing

@Suite("cloudkit serve")
struct ServeTests {
    private let data = FileManager.default.temporaryDirectory
        .appendingPathComponent("ServeTests-\(UUID().uuidString)")

    private func serve() async throws -> CommandProcess.Running {
        try await CommandProcess.start([
            "serve", "--data", data.path, "--port", "0", "--user", "Ada L", "--user", "Bob",
        ])
    }

    /// Returns the settings in a user's file, as a shell would read them.
    private func settings(_ name: String) throws -> [String: String] {
        let file = data.appendingPathComponent("\(name).env")
        var settings: [String: String] = [:]
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        where line.hasPrefix("export ") {
            let parts = line.dropFirst("export ".count).split(separator: "=", maxSplits: 1)
            settings[String(parts[0])] = String(parts[1])
        }
        return settings
    }

    private func database(_ name: String) throws -> CKDatabase {
        let settings = try settings(name)
        let client = WebClient(
            url: try #require(settings["CLOUDKIT_URL"]),
            container: try #require(settings["CLOUDKIT_CONTAINER"]),
            environment: .development,
            credentials: WebCredentials(
                apiToken: try #require(settings["CLOUDKIT_API_TOKEN"]),
                webAuthToken: settings["CLOUDKIT_WEB_AUTH_TOKEN"]
            )
        )
        return CKContainer(client: client).privateCloudDatabase
    }

    @Test(
        "What was saved survives kill -9; so do the users, and only their owner reads their files"
    )
    func killed() async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        var server = try await serve()
        #expect(server.greeting.hasPrefix("Serving iCloud.com.example.app at http://127.0.0.1:"))
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        let ada = try database("ada-l")
        try await ada.save(CKRecordZone(zoneID: zoneID))
        let notes = (0..<50).map { index in
            let note = CKRecord(
                recordType: "Note",
                recordID: CKRecord.ID(recordName: "n\(index)", zoneID: zoneID)
            )
            note["index"] = index
            return note
        }
        _ = try await ada.modifyRecords(saving: notes, deleting: [])
        let token = try settings("ada-l")["CLOUDKIT_API_TOKEN"]
        server.end(SIGKILL)

        server = try await serve()
        #expect(try settings("ada-l")["CLOUDKIT_API_TOKEN"] == token)
        let found = try await database("ada-l").records(for: notes.map(\.recordID))
        for note in notes {
            let record = try found[note.recordID]?.get()
            #expect(record?["index"] == note["index"] as Int?)
            #expect(record?.recordChangeTag == note.recordChangeTag)
        }
        #expect(try await database("bob").allRecordZones().map(\.zoneID) == [.default])
        let attributes = try FileManager.default.attributesOfItem(
            atPath: data.appendingPathComponent("ada-l.env").path
        )
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        server.end(SIGTERM)
    }

    @Test("With --rotate-tokens a token is good once, and its replay ends the session")
    func rotation() async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        let server = try await CommandProcess.start([
            "serve", "--data", data.path, "--port", "0", "--user", "Ada L", "--rotate-tokens",
        ])
        defer { server.end(SIGTERM) }
        let first = try settings("ada-l")
        var kept = first
        kept["CLOUDKIT_WEB_AUTH_TOKEN_FILE"] = data.path + "/token"
        // A client that stores the newest token stays signed in.
        for _ in 0..<4 {
            let outcome = try await CommandProcess.run(["zones", "list"], settings: kept)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        for settings in [first, kept] {
            let outcome = try await CommandProcess.run(["zones", "list"], settings: settings)
            #expect(outcome.status != 0)
        }
    }

    @Test("A port that is none is refused before anything is made")
    func badPort() async throws {
        let outcome = try await CommandProcess.run([
            "serve", "--data", data.path, "--port", "70000",
        ])
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains("--port 70000"))
        #expect(!FileManager.default.fileExists(atPath: data.path))
    }

    /// Returns the URL in a greeting.
    private func url(_ server: CommandProcess.Running) throws -> String {
        let words = server.greeting.split(separator: " ")
        let address = try #require(words.first { $0.hasPrefix("http://") })
        return String(address.dropLast())
    }

    private func ask(_ url: String, key: String) async throws -> String {
        let response = try await HTTPTransport().send(
            TransportRequest(
                method: "GET",
                url: url,
                headers: ["Authorization": "Bearer \(key)"],
                body: nil,
                timeout: 60
            )
        )
        return String(decoding: response.body, as: UTF8.self)
    }

    @Test(
        "A server that is stopped finishes at once what it has begun, and ends with success",
        .timeLimit(.minutes(10))
    )
    func stop() async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        let plan =
            #"{"rules": [{"fault": "delay", "milliseconds": 3600000, "operation": "zones/list"}]}"#
        let (faults, keyFile) = (data.path + "/faults.json", data.path + "/key")
        try Data(plan.utf8).write(to: URL(fileURLWithPath: faults))
        try Data("a key of the operator\n".utf8).write(to: URL(fileURLWithPath: keyFile))
        let server = try await CommandProcess.start([
            "serve", "--data", data.path, "--port", "0", "--user", "Ada L", "--faults", faults,
            "--admin-key-file", keyFile, "--durability", "relaxed",
        ])
        let url = try url(server)
        let database = try database("ada-l")
        async let zones = database.allRecordZones()
        // The request is in the journal before its response, which the fault delays.
        while try await !ask(url + "/_ck/journal", key: "a key of the operator")
            .contains("zones/list")
        {
            await Task.yield()
        }
        server.end(SIGTERM)
        #expect(try await zones.count == 1)
        #expect(server.status == 0)
    }

    @Test("A start that fails after the server began to listen says why, and nothing else")
    func lateFailure() async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        // No file can take the place of a folder.
        let path = data.appendingPathComponent("operator.env").path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let outcome = try await CommandProcess.run(["serve", "--data", data.path, "--port", "0"])
        #expect(outcome.status == 2)
        #expect(outcome.errors == "Error: \(path) cannot be written\n")
    }

    @Test("Without a terminal a server takes SIGHUP as daemons do, and goes on")
    func hangup() async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        let server = try await serve()
        server.send(SIGHUP)
        #expect(try await database("bob").allRecordZones().map(\.zoneID) == [.default])
        server.end(SIGTERM)
        #expect(server.status == 0)
    }

    @Test(
        "What no server should start with is refused with the remedy",
        arguments: [
            (["--host", "0.0.0.0", "--user-header"], "listen on 127.0.0.1"),
            (["--allowed-host", "a/b"], "--allowed-host"),
            (["--allowed-origin", "app.example.com"], "--allowed-origin"),
            (["--trusted-proxy", "here"], "--trusted-proxy"),
            (["--trusted-proxy", "127.0.0.1:80"], "without a port"),
            (["--trusted-proxy", "[::1]:80"], "without a port"),
            (["--trusted-proxy", " 127.0.0.1"], "without a port"),
            (["--max-request-bytes", "0"], "--max-request-bytes 0: the least is 1"),
            (["--durability", "none"], "full"),
            (["--faults", "/nowhere"], "/nowhere: there is no file"),
            (["--admin-key-file", "/nowhere"], "16 characters"),
        ]
    )
    func refusals(arguments: [String], message: String) async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        let outcome = try await CommandProcess.run(
            ["serve", "--data", data.path, "--port", "0"] + arguments
        )
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    /// Runs a server briefly, and returns its greeting.
    private func greeting(_ arguments: String...) async throws -> String {
        let server = try await CommandProcess.start(
            ["serve", "--data", data.path, "--port", "0"] + arguments
        )
        defer { server.end(SIGTERM) }
        return server.greeting
    }

    @Test(
        "A folder's own container is served; of several one must be named, and no file is taken over"
    )
    func containers() async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        let first = try await greeting("--container", "iCloud.first")
        #expect(first.hasPrefix("Serving iCloud.first at"))
        let settings = try settings("ada")
        #expect(try await greeting().hasPrefix("Serving iCloud.first at"))
        let typed = try await CommandProcess.run([
            "serve", "--data", data.path, "--port", "0", "--container", "iCloud.frist",
        ])
        #expect(typed.status == 2)
        #expect(typed.errors.contains("no container iCloud.frist, but iCloud.first"))
        #expect(typed.errors.contains("--new-container"))
        let users = try await CommandProcess.run(["users", "list", "--data", data.path])
        #expect(users.status == 0, "the folder has one container: \(users.errors)")
        let second = try await greeting("--container", "iCloud.second", "--new-container")
        #expect(second.hasPrefix("Serving iCloud.second at"))
        let kept = try self.settings("ada")
        for name in ["CLOUDKIT_CONTAINER", "CLOUDKIT_API_TOKEN"] {
            #expect(kept[name] == settings[name])
        }
        let other = try self.settings("ada-iCloud-second")
        #expect(other["CLOUDKIT_CONTAINER"] == "iCloud.second")
        #expect(other["CLOUDKIT_API_TOKEN"] != settings["CLOUDKIT_API_TOKEN"])
        let outcome = try await CommandProcess.run(["serve", "--data", data.path, "--port", "0"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("iCloud.first, iCloud.second"))
        // Names that lead to the same file name still belong to two users.
        _ = try await greeting("--container", "iCloud.first", "--user", "A.B", "--user", "A-B")
        #expect(try self.settings("a-b")["CLOUDKIT_WEB_AUTH_TOKEN"] != nil)
        #expect(try self.settings("a-b-iCloud-first")["CLOUDKIT_WEB_AUTH_TOKEN"] != nil)
    }

    @Test("Without --user a restart serves who was served before, and makes nobody up")
    func restart() async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        let bob = data.appendingPathComponent("bob.env").relativePath
        let ada = data.appendingPathComponent("ada.env").path
        _ = try await greeting("--user", "Bob")
        let again = try await CommandProcess.start(["serve", "--data", data.path, "--port", "0"])
        again.end(SIGTERM)
        #expect(again.greeting.contains("http://127.0.0.1:"))
        let settings = try settings("bob")
        let url = try #require(settings["CLOUDKIT_URL"])
        #expect(again.greeting.contains(url), "\(bob) has the address of another start")
        #expect(!FileManager.default.fileExists(atPath: ada))
        let users = try await CommandProcess.run(["users", "list", "--data", data.path])
        #expect(!users.output.contains("Ada"), "\(users.output)")
        // Users who were added have no files, which is no reason to add another user.
        try FileManager.default.removeItem(atPath: data.path)
        let password = FileManager.default.temporaryDirectory
            .appendingPathComponent("ServeTests-\(UUID().uuidString).password")
        defer { try? FileManager.default.removeItem(at: password) }
        try Data("correct horse\n".utf8).write(to: password)
        let added = try await CommandProcess.run([
            "users", "add", "Eve", "--password-file", password.path, "--data", data.path, "--new",
            "--container", "iCloud.first",
        ])
        #expect(added.status == 0, "\(added.errors)")
        #expect(try await greeting().hasPrefix("Serving iCloud.first at"))
        #expect(!FileManager.default.fileExists(atPath: ada))
    }

    @Test("With --log-format json each line is an object whose time has its day")
    func jsonLog() async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        let began = Date.now
        let server = try await CommandProcess.start(
            ["serve", "--data", data.path, "--port", "0", "--log-format", "json"]
                + ["--log-level", "info"],
            until: .errors
        )
        server.end(SIGTERM)
        let line = try #require(
            try JSONSerialization.jsonObject(with: Data(server.greeting.utf8)) as? [String: Any]
        )
        #expect(line["level"] as? String == "info")
        #expect(line["message"] as? String != nil)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let time = try style.parse(try #require(line["time"] as? String))
        #expect((began.addingTimeInterval(-1)...Date.now.addingTimeInterval(1)).contains(time))
    }

    @Test("In a log for programs numbers are numbers")
    func numbersInLog() async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        let log = FileManager.default.temporaryDirectory
            .appendingPathComponent("ServeTests-\(UUID().uuidString).log").path
        defer { try? FileManager.default.removeItem(atPath: log) }
        let server = try await CommandProcess.start(
            [
                "-c",
                #"exec "$0" serve --data "$1" --port 0 --log-format json --log-level debug 2>"$2""#,
                CommandProcess.executable.path, data.path, log,
            ],
            executable: URL(fileURLWithPath: "/bin/sh")
        )
        _ = try await ask(url(server) + "/nowhere", key: "none")
        server.end(SIGTERM)
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.contains("Request finished") })
        #expect(line.contains(#""status":404"#), "\(line)")
        #expect(line.firstMatch(of: /"milliseconds":[0-9.]+/) != nil, "\(line)")
    }

    @Test(
        "A server whose standard output is full or closed says so, and goes on",
        arguments: [">/dev/full", ">&-"]
    )
    func noOutput(redirection: String) async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        let server = try await CommandProcess.start(
            [
                "-c", #"exec "$0" serve --data "$1" --port 0 "# + redirection,
                CommandProcess.executable.path, data.path,
            ],
            until: .errors,
            executable: URL(fileURLWithPath: "/bin/sh")
        )
        #expect(server.greeting.hasPrefix("Standard output cannot be written"))
        #expect(server.greeting.hasSuffix("goes on"))
        let zones = try await CommandProcess.run(["zones", "list"], settings: try settings("ada"))
        #expect(zones.status == 0, "\(zones.errors)")
        server.end(SIGTERM)
        #expect(server.status == 0)
    }

    @Test("Behind an address of its own, the metrics need the key, and the refusal says so")
    func metricsBehindProxy() async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        let server = try await CommandProcess.start([
            "serve", "--data", data.path, "--port", "0", "--public-url",
            "https://cloud.example.com/",
        ])
        #expect(try settings("ada")["CLOUDKIT_URL"] == "https://cloud.example.com")
        let url = try url(server)
        #expect(try await ask(url + "/metrics", key: "none").contains("key for operators"))
        server.end(SIGTERM)
    }

    @Test("A second server on a folder, and a file that is no data, are refused with the remedy")
    func folder() async throws {
        defer { try? FileManager.default.removeItem(at: data) }
        let server = try await serve()
        let second = try await CommandProcess.run(["serve", "--data", data.path, "--port", "0"])
        #expect(second.status == 2)
        #expect(second.errors.contains("Another server works on the folder"))
        server.end(SIGTERM)
        let attributes = try FileManager.default.attributesOfItem(atPath: data.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        for name in ["cloud.sqlite-wal", "cloud.sqlite-shm"] {
            try? FileManager.default.removeItem(at: data.appendingPathComponent(name))
        }
        try Data().write(to: data.appendingPathComponent("cloud.sqlite"))
        let empty = try await CommandProcess.run(["serve", "--data", data.path, "--port", "0"])
        #expect(empty.status == 2)
        #expect(empty.errors.contains("is empty"))
    }
}
