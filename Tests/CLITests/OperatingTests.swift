import Foundation
import Testing

@Suite("cloudkit backup, restore and check")
struct OperatingTests {
    /// Creates a zone with records, one with a file, in Ada's database.
    func fill(_ cloud: ServedCloud) async throws {
        try await cloud.objects("zones", "create", "Notes")
        let photo = try cloud.file("photo", String(repeating: "photo", count: 50_000))
        for name in ["a", "b"] {
            try await cloud.objects(
                "records",
                "save",
                "--zone",
                "Notes",
                "--type",
                "Note",
                "--name",
                name,
                "--field",
                "title=\(name)",
                "--field",
                "done=1"
            )
        }
        try await cloud.objects(
            "assets",
            "upload",
            photo,
            "--zone",
            "Notes",
            "--type",
            "Note",
            "--name",
            "a",
            "--field",
            "photo"
        )
    }

    func run(_ arguments: String...) async throws -> CommandProcess.Outcome {
        try await CommandProcess.run(arguments)
    }

    /// Runs statements on a database that no server has open.
    func sqlite(_ file: String, _ statements: String) throws {
        try python(
            "c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit(); c.close()",
            file,
            statements
        )
    }

    func python(_ code: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", "import sqlite3, sys\n" + code] + arguments
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    @Test("What was backed up under load comes back whole, files too, and change tokens expire")
    func roundTrip() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let token = try await cloud.objects("records", "changes", "--zone", "Notes").last?[
                "syncToken"
            ]
            let backup = cloud.path("backup.tar")
            // Saves continue while the backup is written.
            let outcomes = try await withThrowingTaskGroup(of: CommandProcess.Outcome.self) {
                group in
                for index in 0..<6 {
                    group.addTask {
                        try await cloud.run(
                            "records",
                            "save",
                            "--zone",
                            "Notes",
                            "--type",
                            "Note",
                            "--name",
                            "n\(index)",
                            "--field",
                            "title=n\(index)"
                        )
                    }
                }
                group.addTask { try await run("backup", backup, "--data", cloud.data) }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.allSatisfy { $0.status == 0 }, "\(outcomes.map(\.errors))")
            let other = cloud.path("other")
            let restored = try await run("restore", backup, "--data", other)
            #expect(restored.status == 0, "\(restored.errors)")
            let left = try FileManager.default.contentsOfDirectory(atPath: other)
            #expect(left.sorted() == ["assets", "cloud.sqlite"])
            let checked = try await run("check", "--data", other)
            #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
            #expect(checked.output.contains("at 1 asset"))

            let server = try await CommandProcess.start([
                "serve", "--data", other, "--port", "0", "--user", "Ada",
            ])
            defer { server.end(SIGTERM) }
            let settings = ServedCloud.settings(
                try String(contentsOfFile: other + "/ada.env", encoding: .utf8)
            )
            let copy = cloud.path("copy")
            let down = try await CommandProcess.run(
                [
                    "assets", "download", copy, "--zone", "Notes", "--name", "a", "--field",
                    "photo",
                ],
                settings: settings
            )
            #expect(down.status == 0, "\(down.errors)")
            #expect(FileManager.default.contentsEqual(atPath: cloud.path("photo"), andPath: copy))
            let found = try await CommandProcess.run(
                ["records", "get", "a", "b", "--zone", "Notes", "--json"],
                settings: settings
            )
            #expect(try found.objects().count == 2)
            let expired = try await CommandProcess.run(
                ["records", "changes", "--zone", "Notes", "--since", "\(token ?? "")"],
                settings: settings
            )
            #expect(expired.status == 1)
            #expect(expired.errors.contains("CHANGE_TOKEN_EXPIRED"), "\(expired.errors)")
        }
    }

    @Test("After a restore no version gets the tag of one that was saved after the backup")
    func tagsAfterRestore() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let (backup, other) = (cloud.path("backup.tar"), cloud.path("other"))
            try #require(try await run("backup", backup, "--data", cloud.data).status == 0)
            let save = [
                "records", "save", "--zone", "Notes", "--type", "Note", "--name", "a", "--field",
                "title=later",
            ]
            let lost = try await CommandProcess.run(
                save + ["--json"],
                settings: try cloud.settings(of: "ada")
            )
            let tag = try #require(try lost.objects().first?["recordChangeTag"] as? String)
            try #require(try await run("restore", backup, "--data", other).status == 0)
            let server = try await CommandProcess.start([
                "serve", "--data", other, "--port", "0", "--user", "Ada",
            ])
            defer { server.end(SIGTERM) }
            let settings = ServedCloud.settings(
                try String(contentsOfFile: other + "/ada.env", encoding: .utf8)
            )
            #expect(try await CommandProcess.run(save, settings: settings).status == 0)
            let stale = try await CommandProcess.run(save + ["--tag", tag], settings: settings)
            #expect(stale.status == 1)
            #expect(stale.errors.contains("CONFLICT"), "\(stale.errors)")
        }
    }

    @Test("Nothing is restored over what is there, or of a file that is none or damaged")
    func refusals() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let backup = cloud.path("backup.tar")
            #expect(try await run("backup", backup, "--data", cloud.data).status == 0)
            let nowhere = try await run("backup", "/nowhere/b.tar", "--data", cloud.data)
            #expect(nowhere.status == 2)
            #expect(nowhere.errors.contains("/nowhere is no folder"), "\(nowhere.errors)")
            let unwritable = try await run("restore", backup, "--data", "/proc/cloudkit")
            #expect(unwritable.status == 2)
            #expect(
                unwritable.errors.contains("/proc/cloudkit cannot be created"),
                "\(unwritable.errors)"
            )
            #expect(!unwritable.errors.contains("Domain"), "\(unwritable.errors)")
            let full = try await run("restore", backup, "--data", cloud.data)
            #expect(full.status == 2)
            #expect(full.errors.contains("is not empty"))
            let bytes = try Data(contentsOf: URL(fileURLWithPath: backup))
            var flipped = bytes
            flipped[bytes.count / 4] ^= 1
            for (place, damaged) in [
                Data("no archive".utf8), bytes.prefix(bytes.count / 2), flipped, Data(),
            ].enumerated() {
                let file = cloud.path("damaged")
                try damaged.write(to: URL(fileURLWithPath: file))
                let target = cloud.path("target\(place)")
                let outcome = try await run("restore", file, "--data", target)
                #expect(outcome.status != 0, "\(place)")
                #expect(!outcome.errors.isEmpty)
                #expect(!FileManager.default.fileExists(atPath: target), "\(place)")
            }
            // A failed attempt does not block the next one.
            let target = cloud.path("target0")
            #expect(try await run("restore", backup, "--data", target).status == 0)
        }
    }

    @Test("A backup names the files that are damaged or missing, and has all the rest")
    func damagedSource() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let folder = cloud.data + "/assets"
            let assets = try FileManager.default.subpathsOfDirectory(atPath: folder)
            let asset = try #require(assets.first { $0.split(separator: "/").last?.count == 64 })
            let file = URL(fileURLWithPath: folder + "/" + asset)
            var flipped = try Data(contentsOf: file)
            flipped[flipped.count / 2] ^= 1
            try flipped.write(to: file)
            let good = try cloud.file("good.tar", "the last good one")
            for damage in ["flipped", "missing"] {
                if damage == "missing" { try FileManager.default.removeItem(at: file) }
                let backup = cloud.path(damage + ".tar")
                let outcome = try await run("backup", backup, "--data", cloud.data)
                #expect(outcome.status == 1, "\(damage)")
                #expect(outcome.errors.contains(file.lastPathComponent), "\(outcome.errors)")
                let over = try await run("backup", good, "--data", cloud.data, "--force")
                #expect(over.status == 1, "\(damage)")
                #expect(over.errors.contains("left as it was"), "\(over.errors)")
                #expect(try String(contentsOfFile: good, encoding: .utf8) == "the last good one")
                let restored = try await run("restore", backup, "--data", cloud.path(damage))
                #expect(restored.status == 1)
                #expect(restored.errors.contains(file.lastPathComponent), "\(restored.errors)")
                #expect(!restored.errors.contains("when the backup was made"))
                let found = try await run("check", "--data", cloud.path(damage), "--json")
                let problems = try found.objects().compactMap { $0["problem"] as? String }
                #expect(!problems.isEmpty, "\(damage)")
                #expect(problems.allSatisfy { $0.contains("asset") }, "\(problems)")
            }
        }
    }

    @Test("The archive is a tar archive that any tar reads")
    func tar() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let backup = cloud.path("backup.tar")
            #expect(try await run("backup", backup, "--data", cloud.data).status == 0)
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["tar", "-tf", backup]
            process.standardOutput = output
            try process.run()
            let names = String(
                decoding: output.fileHandleForReading.readDataToEndOfFile(),
                as: UTF8.self
            ).split(separator: "\n")
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(names.prefix(2) == ["manifest.json", "cloud.sqlite"])
            #expect(names.count == 3)
            let attributes = try FileManager.default.attributesOfItem(atPath: backup)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("A check names what is wrong, and mends what is derived")
    func check() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let backup = cloud.path("backup.tar")
            #expect(try await run("backup", backup, "--data", cloud.data).status == 0)
            let data = cloud.path("copy")
            #expect(try await run("restore", backup, "--data", data).status == 0)
            try sqlite(
                data + "/cloud.sqlite",
                """
                DELETE FROM indexEntry WHERE record = (SELECT id FROM record WHERE name = 'a');
                UPDATE indexEntry SET key = key || X'00'
                WHERE record = (SELECT id FROM record WHERE name = 'b');
                INSERT INTO indexEntry SELECT zone, number, X'00', record + 1000 FROM indexEntry LIMIT 1;
                INSERT INTO reference (zone, target, kind, source)
                SELECT zone, 'b', 1, id FROM record WHERE name = 'a';
                DELETE FROM asset;
                UPDATE zone SET bytes = bytes + 7;
                """
            )
            let found = try await run("check", "--data", data, "--json")
            #expect(found.status == 1)
            let objects = try found.objects()
            // The number of entries is right, but the entries are wrong.
            let changed = objects.filter { $0["record"] as? String == "b" }
            #expect(changed.count == 1, "\(objects)")
            let problems = objects.compactMap { $0["problem"] as? String }
            for part in ["index entries are not", "is not there", "references", "assets", "bytes"] {
                #expect(problems.contains { $0.contains(part) }, "\(part): \(problems)")
            }
            let repaired = try await run("check", "--data", data, "--repair")
            #expect(repaired.status == 0, "\(repaired.output)\(repaired.errors)")
            let again = try await run("check", "--data", data)
            #expect(again.status == 0, "\(again.output)")
        }
    }

    @Test("A check finds changed rows, values that are not of the schema, and changed files")
    func damage() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let backup = cloud.path("backup.tar")
            #expect(try await run("backup", backup, "--data", cloud.data).status == 0)
            let data = cloud.path("copy")
            #expect(try await run("restore", backup, "--data", data).status == 0)
            try sqlite(
                data + "/cloud.sqlite",
                """
                UPDATE record SET fields = X'7B7D' WHERE name = 'a';
                UPDATE record SET fields = '{"nothing":{"value":1,"type":"INT64"}}', checksum = NULL
                WHERE name = 'b';
                """
            )
            let assets = try FileManager.default.subpathsOfDirectory(atPath: data + "/assets")
            let asset = try #require(assets.first { $0.split(separator: "/").last?.count == 64 })
            try Data("x".utf8).write(to: URL(fileURLWithPath: data + "/assets/" + asset))
            let found = try await run("check", "--data", data, "--json", "--repair")
            #expect(found.status == 1)
            let objects = try found.objects()
            func problem(_ record: String) -> String {
                objects.filter { $0["record"] as? String == record }
                    .compactMap { $0["problem"] as? String }.joined(separator: ";")
            }
            #expect(problem("a").contains("checksum"))
            #expect(problem("b").contains("no field 'nothing'"))
            let stray = objects.first {
                ($0["problem"] as? String)?.contains("no field 'nothing'") == true
            }
            #expect(stray?["isRepaired"] as? Bool == true, "\(objects)")
            let file = objects.first {
                ($0["problem"] as? String)?.contains("of the asset") == true
            }
            #expect(file?["record"] as? String == "a", "\(objects)")
            #expect(file?["zone"] as? String == "Notes")
        }
    }

    @Test("A check of a file that SQLite cannot read says so, and what to do")
    func damagedFile() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let backup = cloud.path("backup.tar")
            #expect(try await run("backup", backup, "--data", cloud.data).status == 0)
            let data = cloud.path("copy")
            // An empty folder that others may read becomes private.
            try FileManager.default.createDirectory(
                atPath: data,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o755]
            )
            #expect(try await run("restore", backup, "--data", data).status == 0)
            let attributes = try FileManager.default.attributesOfItem(atPath: data)
            #expect(attributes[.posixPermissions] as? Int == 0o700)
            try damage(data, page: "record", "page[:] = b'Z' * len(page)")
            for arguments in [["check", "--data", data], ["check", "--data", data, "--repair"]] {
                let outcome = try await CommandProcess.run(arguments)
                #expect(outcome.status == 1, "\(outcome.errors)")
                let remedy =
                    arguments.contains("--repair") ? "restore it from a backup" : "check --repair"
                #expect(outcome.output.contains(remedy), "\(outcome.output)")
                #expect(outcome.errors.contains("restore a backup"), "\(outcome.errors)")
            }
        }
    }

    @Test("A file of a newer version is refused with words, and stays as it is")
    func newer() async throws {
        try await ServedCloud.run { cloud in
            let backup = cloud.path("backup.tar")
            #expect(try await run("backup", backup, "--data", cloud.data).status == 0)
            let data = cloud.path("copy")
            #expect(try await run("restore", backup, "--data", data).status == 0)
            try sqlite(
                data + "/cloud.sqlite",
                "INSERT INTO grdb_migrations VALUES ('something of next year')"
            )
            let serve = ["serve", "--port", "0"]
            let file = URL(fileURLWithPath: data + "/cloud.sqlite")
            let before = try Data(contentsOf: file)
            // A server that opens the file reports it, and continues until it is stopped.
            let server = try await CommandProcess.start(serve + ["--data", data])
            guard server.greeting.isEmpty else {
                server.end(SIGTERM)
                Issue.record("The file is served: \(server.greeting)")
                return
            }
            let commands = [
                serve, ["check", "--repair"], ["users", "list"],
                ["backup", cloud.path("newer.tar")],
            ]
            for arguments in commands {
                let outcome = try await CommandProcess.run(arguments + ["--data", data])
                #expect(outcome.status == 2, "\(arguments)")
                #expect(outcome.errors.contains("newer version"), "\(outcome.errors)")
                #expect(try Data(contentsOf: file) == before, "\(arguments)")
            }
        }
    }

    @Test("exec begins with a backup and leaves one, as tests of other services do")
    func exec() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let (first, second) = (cloud.path("first.tar"), cloud.path("second.tar"))
            #expect(try await run("backup", first, "--data", cloud.data).status == 0)
            let tool = CommandProcess.executable.path
            let added = try await run(
                "exec",
                "--user",
                "Ada",
                "--import",
                first,
                "--export-on-exit",
                second,
                "sh",
                "-c",
                "'\(tool)' records save --zone Notes --type Note --name c --field title=c && exit 3"
            )
            #expect(added.status == 3, "\(added.errors)")
            let listed = try await run(
                "exec",
                "--user",
                "Ada",
                "--import",
                second,
                tool,
                "records",
                "get",
                "--zone",
                "Notes",
                "a",
                "b",
                "c"
            )
            #expect(listed.status == 0, "\(listed.errors)")
            for (options, message) in [
                (["--user", "Nobody"], "no such user, but Ada, Bob"),
                (["--container", "other"], "has iCloud.com.example.app"),
            ] {
                let strange = try await CommandProcess.run(
                    ["exec", "--import", second] + options + ["true"]
                )
                #expect(strange.status == 2)
                #expect(strange.errors.contains(message), "\(strange.errors)")
            }
            var bytes = try Data(contentsOf: URL(fileURLWithPath: second))
            let place = try #require(bytes.firstRange(of: Data("photophoto".utf8))).lowerBound
            bytes[place] ^= 1
            let damaged = cloud.path("damaged.tar")
            try bytes.write(to: URL(fileURLWithPath: damaged))
            let warned = try await run("exec", "--import", damaged, "true")
            #expect(warned.status == 0, "\(warned.errors)")
            #expect(warned.errors.contains("do not match their checksums"), "\(warned.errors)")
        }
    }
}
