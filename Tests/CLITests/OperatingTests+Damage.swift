import CloudKitExtras
import Foundation
import Testing

// Data that is damaged, and backups that are interrupted.
extension OperatingTests {
    @Test("A database that is damaged replaces no good backup, and is no new one")
    func damagedDatabase() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            let good = try cloud.file("good.tar", "the last good one")
            try sqlite(
                data + "/cloud.sqlite",
                "UPDATE record SET fields = X'7B7D' WHERE name = 'a'"
            )
            let record = try await run("backup", good, "--data", data, "--force")
            #expect(record.status == 1)
            #expect(record.errors.contains("1 record is damaged ('a')"), "\(record.errors)")
            let all = cloud.path("all.tar")
            #expect(try await run("backup", all, "--data", data).status == 1)
            let restored = try await run("restore", all, "--data", cloud.path("restored"))
            #expect(restored.status == 1)
            #expect(restored.errors.contains("1 record is damaged ('a')"), "\(restored.errors)")
            #expect(try await run("check", "--data", cloud.path("restored")).status == 1)
            try damage(data, page: "record", "page[:] = b'Z' * len(page)")
            for file in [good, cloud.path("new.tar")] {
                let outcome = try await run("backup", file, "--data", data, "--force")
                #expect(outcome.status != 0)
                #expect(outcome.errors.contains("cloud.sqlite is damaged"), "\(outcome.errors)")
            }
            #expect(try String(contentsOfFile: good, encoding: .utf8) == "the last good one")
            #expect(!FileManager.default.fileExists(atPath: cloud.path("new.tar")))
            let left = try FileManager.default.contentsOfDirectory(atPath: cloud.folder.path)
            #expect(!left.contains { $0.hasPrefix(".") }, "\(left)")
        }
    }

    @Test("An interrupted backup leaves nothing; what a killed one left goes with the next")
    func interruptedBackup() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            let backups = cloud.folder.appendingPathComponent("backups")
            try FileManager.default.createDirectory(
                at: backups,
                withIntermediateDirectories: false
            )
            func names() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: backups.path)
            }
            let file = backups.appendingPathComponent("cloud.tar").path
            // A backup waits for a writer that lets nobody read.
            let writer = try await CommandProcess.start(
                [
                    "python3", "-u", "-c",
                    """
                    import sqlite3, sys, threading
                    c = sqlite3.connect(sys.argv[1], isolation_level=None)
                    c.execute("PRAGMA locking_mode = EXCLUSIVE")
                    c.execute("BEGIN EXCLUSIVE")
                    print("locked")
                    threading.Event().wait()
                    """, data + "/cloud.sqlite",
                ],
                executable: URL(fileURLWithPath: "/usr/bin/env")
            )
            defer { writer.end(SIGKILL) }
            #expect(writer.greeting == "locked")
            for signal in [SIGKILL, SIGTERM] {
                let backup = try CommandProcess.launch(
                    ["backup", file, "--data", data],
                    settings: [:]
                )
                // The folder has its final name once it is locked.
                while try names().first?.hasPrefix(".cloudkit-backup-") != true {
                    await Task.yield()
                }
                let part = backups.appendingPathComponent(try names()[0]).path
                let attributes = try FileManager.default.attributesOfItem(atPath: part)
                #expect(attributes[.posixPermissions] as? Int == 0o700)
                backup.end(signal)
                #expect(try names().count == (signal == SIGKILL ? 1 : 0))
                if signal == SIGKILL {
                    try FileManager.default.moveItem(atPath: part, toPath: cloud.path("part"))
                }
            }
            writer.end(SIGKILL)
            let remains = backups.appendingPathComponent(".cloudkit-backup-killed").path
            try FileManager.default.moveItem(atPath: cloud.path("part"), toPath: remains)
            let outcome = try await run("backup", file, "--data", data)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try names() == ["cloud.tar"])
        }
    }

    @Test("A backup replaces a file only: no device, no pipe, and not a file called -")
    func noFile() async throws {
        try await ServedCloud.run { cloud in
            let pipe = cloud.path("pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            let link = cloud.path("link")
            try FileManager.default.createSymbolicLink(
                atPath: link,
                withDestinationPath: cloud.path("nothing")
            )
            let dangling = try await run("backup", link, "--data", cloud.data, "--force")
            #expect(dangling.status == 2)
            #expect(dangling.errors.contains("which is not there"), "\(dangling.errors)")
            for target in [pipe, cloud.folder.path] {
                let outcome = try await run("backup", target, "--data", cloud.data, "--force")
                #expect(outcome.status == 2)
                #expect(outcome.errors.contains("is a folder or a device"), "\(outcome.errors)")
            }
            let type = try FileManager.default.attributesOfItem(atPath: pipe)[.type]
            #expect(type as? FileAttributeType != .typeRegular)
            let output = try await run("backup", "-", "--data", cloud.data)
            #expect(output.status == 2)
            #expect(output.errors.contains("not to standard output"), "\(output.errors)")
            let exec = try await run("exec", "--export-on-exit", pipe, "true")
            #expect(exec.status == 2)
            #expect(exec.errors.contains("--export-on-exit"), "\(exec.errors)")
        }
    }

    @Test(
        "A damaged index makes a server unready, is no backup, and is rebuilt by a repair",
        .timeLimit(.minutes(5))
    )
    func damagedIndex() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            try await cloud.objects("records", "save", "--type", "Note", "--name", "needle")
            let data = try await copy(of: cloud)
            // The name in the index that finds records by their names.
            try damage(
                data,
                page: "sqlite_autoindex_record_1",
                "place = page.index(b'needle'); page[place:place + 2] = b'xx'"
            )
            let server = try await CommandProcess.start(Self.serve + ["--data", data])
            let settings = ServedCloud.settings(
                try String(contentsOfFile: data + "/ada.env", encoding: .utf8)
            )
            let ready = (settings["CLOUDKIT_URL"] ?? "") + "/health/ready"
            var response = try await get(ready)
            while response.status == 200 {
                await Task.yield()
                response = try await get(ready)
            }
            #expect(response.status == 503)
            #expect(String(decoding: response.body, as: UTF8.self).contains("cloudkit check"))
            let lost = try await CommandProcess.run(
                ["records", "get", "needle"],
                settings: settings
            )
            #expect(lost.status == 1)
            // The damaged index does not find the record that is there, so a save would make another.
            let save = ["records", "save", "--type", "Note", "--name"]
            for name in ["needle", "other"] {
                let refused = try await CommandProcess.run(save + [name], settings: settings)
                #expect(refused.status != 0)
                #expect(refused.errors.contains("cloudkit check --repair"), "\(refused.errors)")
            }
            let listed = try await CommandProcess.run(["zones", "list"], settings: settings)
            #expect(listed.status == 0, "\(listed.errors)")
            server.end(SIGTERM)
            let backup = try await run("backup", cloud.path("b.tar"), "--data", data)
            #expect(backup.errors.contains("cloudkit check --repair"), "\(backup.errors)")
            let found = try await run("check", "--data", data)
            #expect(found.status == 1)
            #expect(found.output.contains("finds an index damaged"), "\(found.output)")
            #expect(found.errors.contains("--repair corrects"), "\(found.errors)")
            let repaired = try await run("check", "--data", data, "--repair")
            #expect(repaired.status == 0, "\(repaired.output)\(repaired.errors)")
            #expect(try await run("check", "--data", data).status == 0)
            let again = try await CommandProcess.start(Self.serve + ["--data", data])
            defer { again.end(SIGTERM) }
            let there = try await CommandProcess.run(
                ["records", "get", "needle"],
                settings: ServedCloud.settings(
                    try String(contentsOfFile: data + "/ada.env", encoding: .utf8)
                )
            )
            #expect(there.status == 0, "\(there.errors)")
        }
    }

    @Test(
        "Index entries that are out of order are rebuilt by a repair, and are no reason to restore"
    )
    func misplacedEntries() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            try damage(
                data,
                page: "indexEntry",
                "assert page[0] == 10; page[8:10], page[10:12] = page[10:12], page[8:10]"
            )
            let backup = try await run("backup", cloud.path("b.tar"), "--data", data)
            #expect(backup.errors.contains("cloudkit check --repair"), "\(backup.errors)")
            let found = try await run("check", "--data", data)
            #expect(found.output.contains("finds an index damaged"), "\(found.output)")
            #expect(!found.output.contains("backup"), "\(found.output)")
            #expect(found.errors.contains("--repair corrects"), "\(found.errors)")
            let repaired = try await run("check", "--data", data, "--repair")
            #expect(repaired.status == 0, "\(repaired.output)\(repaired.errors)")
            #expect(try await run("check", "--data", data).status == 0)
        }
    }

    /// The bytes of a page that cannot be read: none, and some of no kind.
    @Test(
        "A repair replaces indexes and derived tables that cannot be read, and changes no other row",
        arguments: [
            ("sqlite_autoindex_record_1", "0"), ("sqlite_autoindex_record_2", "90"),
            ("zoneByContent", "0"), ("indexEntry", "0"), ("indexEntry", "90"),
            ("referenceBySource", "90"),
        ]
    )
    func unreadableIndex(page: String, byte: String) async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            let before = cloud.path("before.sqlite")
            try FileManager.default.copyItem(atPath: data + "/cloud.sqlite", toPath: before)
            try damage(data, page: page, "page[:] = bytes([\(byte)]) * len(page)")
            let found = try await run("check", "--data", data)
            #expect(found.errors.contains("--repair"), "\(found.errors)")
            let repaired = try await run("check", "--data", data, "--repair")
            #expect(repaired.status == 0, "\(repaired.output)\(repaired.errors)")
            let good = try await run("check", "--data", data)
            #expect(good.status == 0, "\(good.output)\(good.errors)")
            try python(
                """
                def contents(path):
                    c = sqlite3.connect(path)
                    sql = "SELECT name, sql FROM sqlite_master ORDER BY name"
                    names = c.execute(sql).fetchall()
                    rows = {}
                    for name, sql in names:
                        if sql and sql.startswith("CREATE TABLE"):
                            rows[name] = sorted(map(repr, c.execute(f'SELECT * FROM "{name}"')))
                    return names, rows, sorted(c.execute("SELECT * FROM sqlite_sequence"))
                assert contents(sys.argv[1]) == contents(sys.argv[2])
                """,
                before,
                data + "/cloud.sqlite"
            )
        }
    }

    @Test("No command writes to a damaged folder, and each says what to do")
    func commandsOnDamage() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            let schema = try cloud.file("schema.ckdb", "DEFINE SCHEMA")
            try damage(
                data,
                page: "sqlite_autoindex_record_1",
                "count = int.from_bytes(page[3:5], 'big') - 1; page[3:5] = count.to_bytes(2, 'big')"
            )
            let commands = [
                "users add Carl --no-password", "users password Ada --no-password",
                "users delete Bob --force", "users sign-out Ada", "users roles Ada --grant x",
                "tokens api", "tokens web-auth --user Ada", "schema import \(schema)",
                "schema deploy",
            ]
            for command in commands {
                let outcome = try await CommandProcess.run(
                    command.split(separator: " ").map(String.init) + ["--data", data]
                )
                #expect(outcome.status == 1, "\(command)")
                #expect(
                    outcome.errors.contains("run cloudkit check --repair"),
                    "\(command): \(outcome.errors)"
                )
            }
            // What only reads works.
            let users = try await run("users", "list", "--data", data, "--json")
            #expect(try users.objects().map { $0["givenName"] as? String } == ["Ada", "Bob"])
            #expect(try await run("check", "--data", data, "--repair").status == 0)
            let added = try await run("users", "add", "Carl", "--no-password", "--data", data)
            #expect(added.status == 0, "\(added.errors)")
        }
    }

    @Test("Damage that a server has met is known to commands that would not find it in time")
    func markedDamage() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            let whole = cloud.path("whole.sqlite")
            try FileManager.default.copyItem(atPath: data + "/cloud.sqlite", toPath: whole)
            try damage(data, page: "sqlite_autoindex_record_1", "page[:] = bytes(len(page))")
            let server = try await CommandProcess.start(Self.serve + ["--data", data])
            let lost = try await CommandProcess.run(
                ["records", "get", "a", "--zone", "Notes"],
                settings: try ada(data)
            )
            #expect(lost.status == 1)
            server.end(SIGTERM)
            // In a large database, a check of two seconds finds as little as in one that is whole.
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: data + "/cloud.sqlite" + suffix)
            }
            try FileManager.default.copyItem(atPath: whole, toPath: data + "/cloud.sqlite")
            let add = ["users", "add", "Carl", "--no-password", "--data", data]
            let refused = try await CommandProcess.run(add)
            #expect(refused.status == 1)
            #expect(refused.errors.contains("cloudkit check --repair"), "\(refused.errors)")
            #expect(try await run("users", "list", "--data", data).status == 0)
            // So is a server that starts again.
            let again = try await CommandProcess.start(Self.serve + ["--data", data])
            let ready = (try ada(data)["CLOUDKIT_URL"] ?? "") + "/health/ready"
            while try await get(ready).status == 200 { await Task.yield() }
            #expect(try await get(ready).status == 503)
            again.end(SIGTERM)
            let checked = try await run("check", "--data", data)
            #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
            let added = try await CommandProcess.run(add)
            #expect(added.status == 0, "\(added.errors)")
        }
    }

    /// Returns the settings of Ada on the server of a folder.
    func ada(_ data: String) throws -> [String: String] {
        ServedCloud.settings(try String(contentsOfFile: data + "/ada.env", encoding: .utf8))
    }

    @Test("A repair does not begin where the database itself is damaged, and says what to do")
    func hopelessRepair() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            // An entry that a repair could correct, and a table that it could not.
            try sqlite(data + "/cloud.sqlite", "DELETE FROM indexEntry")
            try damage(data, page: "push", "page[0] = 7")
            let outcome = try await run("check", "--data", data, "--repair")
            #expect(outcome.status == 1)
            #expect(!outcome.output.contains("(repaired)"), "\(outcome.output)")
            #expect(outcome.errors.contains("restore a backup"), "\(outcome.errors)")
        }
    }

    @Test("A damaged record is replaced as a whole from the command line, as check says")
    func replacing() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            try sqlite(
                data + "/cloud.sqlite",
                "UPDATE record SET fields = X'7B7D' WHERE name = 'b'"
            )
            let checked = try await run("check", "--data", data)
            #expect(checked.output.contains("records save --replace"), "\(checked.output)")
            let server = try await CommandProcess.start(Self.serve + ["--data", data])
            defer { server.end(SIGTERM) }
            let settings = ServedCloud.settings(
                try String(contentsOfFile: data + "/ada.env", encoding: .utf8)
            )
            let save = [
                "records", "save", "--zone", "Notes", "--type", "Note", "--name", "b", "--field",
                "title=new",
            ]
            let part = try await CommandProcess.run(save, settings: settings)
            #expect(part.status == 1)
            let whole = try await CommandProcess.run(save + ["--replace"], settings: settings)
            #expect(whole.status == 0, "\(whole.errors)")
            // The size of the damaged record is no longer known.
            let refused = try await run("check", "--data", data, "--repair")
            #expect(refused.status == 1)
            #expect(
                refused.errors.contains("nothing was repaired, because a server"),
                "\(refused.errors)"
            )
            #expect(!refused.output.contains("(repaired)"), "\(refused.output)")
            server.end(SIGTERM)
            let repaired = try await run("check", "--data", data, "--repair")
            #expect(repaired.status == 0, "\(repaired.errors)")
            #expect(repaired.output.contains("(repaired)"), "\(repaired.output)")
        }
    }

    @Test("A repair beside a server is no error where there is nothing to repair")
    func nothingToRepair() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let outcome = try await run("check", "--data", cloud.data, "--repair")
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
            #expect(outcome.errors == "")
        }
    }

    static let serve = ["serve", "--port", "0", "--user", "Ada"]

    func get(_ url: String) async throws -> TransportResponse {
        try await HTTPTransport().send(
            TransportRequest(method: "GET", url: url, headers: [:], body: nil, timeout: 60)
        )
    }

    /// Returns a copy of a cloud's data that no server has open.
    func copy(of cloud: ServedCloud) async throws -> String {
        let (backup, data) = (cloud.path("copied.tar"), cloud.path("copy"))
        try #require(try await run("backup", backup, "--data", cloud.data).status == 0)
        try #require(try await run("restore", backup, "--data", data).status == 0)
        return data
    }

    /// Changes the first page of a table or an index by a statement of Python.
    func damage(_ data: String, page: String, _ change: String) throws {
        try python(
            """
            file, name = sys.argv[1:]
            c = sqlite3.connect(file)
            root = "SELECT rootpage FROM sqlite_master WHERE name = ?"
            number, = c.execute(root, [name]).fetchone()
            size, = c.execute("PRAGMA page_size").fetchone()
            c.close()
            with open(file, "r+b") as f:
                f.seek((number - 1) * size)
                page = bytearray(f.read(size))
                \(change)
                f.seek((number - 1) * size)
                f.write(page)
            """,
            data + "/cloud.sqlite",
            page
        )
    }
}
