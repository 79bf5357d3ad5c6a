import Foundation
import Testing

@Suite("Exports of whole containers, and imports that are cut", .timeLimit(.minutes(10)))
struct ImportCheckpointTests {
    private func names(
        _ cloud: ServedCloud,
        as user: String
    ) async throws -> [String: String] {
        var tags: [String: String] = [:]
        for record in try await cloud.objects("records", "changes", "--zone", "Notes", as: user) {
            guard let name = record["recordName"] as? String else { continue }
            tags[name] = record["recordChangeTag"] as? String
        }
        return tags
    }

    /// Exports 500 notes, of which the first needs the last.
    private func export(_ cloud: ServedCloud) async throws -> String {
        try await cloud.objects("zones", "create", "Notes")
        for start in stride(from: 0, to: 500, by: 100) {
            let lines = (start..<start + 100).map { number in
                #"{"recordName":"n\#(number)","recordType":"Note","fields":{"#
                    + #""index":{"value":\#(number),"type":"INT64"}}}"#
            }
            try await cloud.objects(
                "records",
                "save",
                "--zone",
                "Notes",
                "--file",
                "-",
                input: lines.joined(separator: "\n")
            )
        }
        let file = cloud.path("notes.jsonl")
        try await cloud.objects(
            "export",
            file,
            "--assets",
            cloud.path("assets"),
            "--without-default-zone"
        )
        var lines = try String(contentsOfFile: file, encoding: .utf8)
            .split(separator: "\n").map(String.init)
        let first = try #require(lines.firstIndex { $0.contains(#""n0""#) })
        lines[first] =
            #"{"record":{"recordName":"n0","recordType":"Note","parent":{"recordName":"n499"},"#
            + #""fields":{},"zoneID":{"zoneName":"Notes"}}}"#
        return try cloud.file("all.jsonl", lines.joined(separator: "\n") + "\n")
    }

    /// Returns the faults that let Bob's third request for changes fail.
    private static func faults(_ fault: String) -> String {
        #"{"rules":[{\#(fault),"operation":"records/modify","user":"Bob","call":3}]}"#
    }

    @Test("An import that was refused in the middle goes on behind that, and sends nothing twice")
    func refused() async throws {
        let faults = Self.faults(#""fault":"error","code":"BAD_REQUEST""#)
        try await ServedCloud.run(faults: faults) { cloud in
            let file = try await export(cloud)
            let mark = cloud.path("mark")
            let cut = try await cloud.run("import", file, "--checkpoint", mark, as: "bob")
            #expect(cut.status == 1)
            #expect(cut.errors.contains("it goes on behind line"), "\(cut.errors)")
            let before = try await names(cloud, as: "bob")
            #expect(before.count == 400)
            #expect(before["n0"] == nil)
            let done = try await cloud.objects("import", file, "--checkpoint", mark, as: "bob")
            #expect(done.first?["records"] as? Int == 500)
            #expect(done.first?["zones"] as? Int == 1)
            let after = try await names(cloud, as: "bob")
            #expect(after.count == 500)
            // Existing records were not touched: a second save would change their tags.
            for (name, tag) in before { #expect(after[name] == tag, "\(name)") }
            #expect(!FileManager.default.fileExists(atPath: mark))
        }
    }

    @Test("An import that was killed in the middle goes on where it stopped")
    func killed() async throws {
        let faults = Self.faults(#""fault":"delay","milliseconds":600000"#)
        try await ServedCloud.run(faults: faults) { cloud in
            let file = try await export(cloud)
            let mark = cloud.path("mark")
            let settings = try cloud.settings(of: "bob")
            let running = try CommandProcess.launch(
                ["import", file, "--checkpoint", mark],
                settings: settings
            )
            // The second request gets a response and the third does not: the import hangs there.
            func line() -> Int {
                guard let data = FileManager.default.contents(atPath: mark),
                    let mark = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
                    let report = mark["report"] as? [String: Any]
                else { return 0 }
                return report["records"] as? Int ?? 0
            }
            while line() < 400 { await Task.yield() }
            while try await names(cloud, as: "bob").count < 500 { await Task.yield() }
            running.end(SIGKILL)
            let done = try await cloud.objects("import", file, "--checkpoint", mark, as: "bob")
            #expect(done.first?["records"] as? Int == 500)
            #expect(try await names(cloud, as: "bob").count == 500)
        }
    }

    @Test("A checkpoint of another export, and a file that is none, are refused")
    func foreign() async throws {
        try await ServedCloud.run { cloud in
            let header =
                #"{"export":{"container":"c","database":"private","environment":"development","version":1}}"#
            let file = try cloud.file("a.jsonl", header + "\n{\"end\":{}}\n")
            for (text, word) in [
                ("junk", "not a checkpoint"),
                (
                    #"{"file":"x","line":3,"more":[],"report":{"zones":0,"records":0,"#
                        + #""assets":0,"rejected":0,"shares":0}}"#, "another export"
                ),
            ] {
                let mark = try cloud.file("mark", text)
                let outcome = try await cloud.run("import", file, "--checkpoint", mark)
                #expect(outcome.status == 2)
                #expect(outcome.errors.contains(word), "\(outcome.errors)")
            }
        }
    }

    @Test("All databases of a container go to one file, and come back to where they were")
    func all() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "Notes")
            for (database, zone, name) in [
                ("private", "Notes", "mine"), ("private", "_defaultZone", "default"),
                ("public", "_defaultZone", "everybody's"),
            ] {
                try await cloud.objects(
                    "records",
                    "save",
                    "--database",
                    database,
                    "--zone",
                    zone,
                    "--type",
                    "Note",
                    "--name",
                    name,
                    "--field",
                    "title=\(name)"
                )
            }
            let file = cloud.path("all.jsonl")
            let assets = cloud.path("assets")
            let exported = try await cloud.objects(
                "export",
                file,
                "--all",
                "--type",
                "Note",
                "--assets",
                assets
            )
            #expect(exported.first?["records"] as? Int == 3)
            let single = try await cloud.run("import", file)
            #expect(single.status == 2)
            #expect(single.errors.contains("--all"), "\(single.errors)")
            try await cloud.objects("records", "delete", "everybody's", "--database", "public")
            let imported = try await cloud.objects("import", file, "--all", as: "bob")
            #expect(imported.first?["records"] as? Int == 3, "\(imported)")
            for (database, zone, name) in [
                ("private", "Notes", "mine"), ("private", "_defaultZone", "default"),
                ("public", "_defaultZone", "everybody's"),
            ] {
                let found = try await cloud.objects(
                    "records",
                    "get",
                    name,
                    "--database",
                    database,
                    "--zone",
                    zone,
                    as: "bob"
                )
                #expect(found.first?["recordName"] as? String == name)
            }
            let both = try await cloud.run(
                "export",
                file,
                "--all",
                "--database",
                "public",
                "--assets",
                assets
            )
            #expect(both.status == 2)
        }
    }
}
