import Foundation
import Testing

@Suite("cloudkit export and import")
struct ArchiveTests {
    /// Returns the part of each record that an import can restore.
    private func contents(_ records: [[String: Any]]) throws -> [String: String] {
        var contents: [String: String] = [:]
        for record in records {
            guard let name = record["recordName"] as? String else { continue }
            var fields = record["fields"] as? [String: [String: Any]] ?? [:]
            for (key, field) in fields {
                guard var asset = field["value"] as? [String: Any] else { continue }
                // URLs and owners of zones differ, but their targets must not.
                asset["downloadURL"] = nil
                asset["zoneID"] = nil
                fields[key]?["value"] = asset
            }
            let parts: [String: Any] = [
                "type": record["recordType"] ?? "", "fields": fields,
                "parent": (record["parent"] as? [String: Any])?["recordName"] ?? "",
            ]
            let data = try JSONSerialization.data(withJSONObject: parts, options: .sortedKeys)
            contents[name] = String(decoding: data, as: UTF8.self)
        }
        return contents
    }

    /// Fills Ada's database: records of all types, more than a page, files, parents, two zones.
    private func fill(_ cloud: ServedCloud) async throws {
        try await cloud.objects("zones", "create", "Notes", "Empty")
        let lines = (0..<230).map { index in
            #"{"recordName":"n\#(index)","recordType":"Note","fields":{"#
                + #""index":{"value":\#(index),"type":"INT64"},"#
                + #""ratio":{"value":\#(index).0,"type":"DOUBLE"},"#
                + #""text":{"value":"Zeile\n\#(index) \u2028 ü","type":"STRING"},"#
                + #""tags":{"value":["a","b"],"type":"STRING_LIST"},"#
                + #""none":{"value":[],"type":"STRING_LIST"},"#
                + #""bytes":{"value":"AAEC","type":"BYTES"},"#
                + #""secret":{"value":"s\#(index)","type":"STRING","isEncrypted":true},"#
                + #""due":{"value":1769860800123,"type":"TIMESTAMP"}}}"#
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
        // n0 and n1 change last, so that they follow the records that need them in the change feed.
        let children = [
            #"{"recordName":"c","recordType":"Note","fields":{},"parent":{"recordName":"n0"}}"#,
            #"{"recordName":"v","recordType":"Note","fields":{"on":{"type":"REFERENCE","value":{"#
                + #""recordName":"n1","action":"VALIDATE"}}}}"#,
        ]
        try await cloud.objects(
            "records",
            "save",
            "--zone",
            "Notes",
            "--file",
            "-",
            input: children.joined(separator: "\n")
        )
        for name in ["n0", "n1"] {
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
                "last=yes"
            )
        }
        let photo = try cloud.file("photo", String(repeating: "pixel", count: 40_000))
        try await cloud.objects(
            "assets",
            "upload",
            photo,
            "--zone",
            "Notes",
            "--type",
            "Note",
            "--name",
            "n3",
            "--field",
            "photo"
        )
        try await cloud.objects(
            "records",
            "save",
            "--type",
            "Setting",
            "--name",
            "s1",
            "--field",
            "dark=1",
            "--field",
            "at:LOCATION=1.5,2.5"
        )
    }

    @Test("An exported database, imported for another user, has equal records and files")
    func roundTrip() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let (file, assets) = (cloud.path("all.jsonl"), cloud.path("assets"))
            let exported = try await cloud.objects(
                "export",
                file,
                "--assets",
                assets,
                "--type",
                "Setting"
            )
            #expect(exported.first?["records"] as? Int == 233)
            #expect(exported.first?["assets"] as? Int == 1)
            #expect(exported.first?["zones"] as? Int == 3)

            // A second import replaces every record by the same.
            for _ in 0..<2 {
                let imported = try await cloud.objects(
                    "import",
                    file,
                    "--assets",
                    assets,
                    as: "bob"
                )
                #expect(imported.first?["records"] as? Int == 233)
                #expect(imported.first?["rejected"] as? Int == 0)
            }
            for (zone, count) in [("Notes", 232), ("Empty", 0)] {
                let ada = try await cloud.objects("records", "changes", "--zone", zone)
                let bob = try await cloud.objects("records", "changes", "--zone", zone, as: "bob")
                #expect(try contents(ada).count == count)
                #expect(try contents(ada) == contents(bob))
            }
            let ada = try await cloud.objects("records", "query", "Setting")
            let bob = try await cloud.objects("records", "query", "Setting", as: "bob")
            #expect(try contents(ada).count == 1)
            #expect(try contents(ada) == contents(bob))
            let copy = cloud.path("copy")
            let down = try await cloud.run(
                "assets",
                "download",
                copy,
                "--name",
                "n3",
                "--field",
                "photo",
                "--zone",
                "Notes",
                as: "bob"
            )
            #expect(down.status == 0, "\(down.errors)")
            #expect(FileManager.default.contentsEqual(atPath: cloud.path("photo"), andPath: copy))

            // An export of the copy has the same lines, in any order.
            let again = cloud.path("again.jsonl")
            try await cloud.objects(
                "export",
                again,
                "--assets",
                cloud.path("assets2"),
                "--type",
                "Setting",
                as: "bob"
            )
            let first = try Data(contentsOf: URL(fileURLWithPath: file)).split(separator: 10)
            let second = try Data(contentsOf: URL(fileURLWithPath: again)).split(separator: 10)
            #expect(first.count == second.count)
        }
    }

    @Test("The default zone is left out only when that is asked for")
    func defaultZone() async throws {
        try await ServedCloud.run { cloud in
            let file = cloud.path("all.jsonl")
            let open = try await cloud.run("export", file, "--assets", cloud.path("a"))
            #expect(open.status == 2)
            #expect(open.errors.contains("--without-default-zone"))
            #expect(!FileManager.default.fileExists(atPath: file))
            let without = try await cloud.objects(
                "export",
                file,
                "--assets",
                cloud.path("a"),
                "--without-default-zone"
            )
            #expect(without.first?["zones"] as? Int == 0)
            let missing = try await cloud.run(
                "export",
                file,
                "--assets",
                cloud.path("a"),
                "--zone",
                "None",
                "--force"
            )
            #expect(missing.status == 1)
            #expect(missing.errors.contains("No zone None"))
        }
    }

    @Test("Bad lines are reported by number and kept, and the others are imported")
    func badLines() async throws {
        try await ServedCloud.run { cloud in
            let header =
                #"{"export":{"version":1,"container":"c","environment":"development","#
                + #""database":"private"}}"#
            let zone = #""zoneID":{"zoneName":"Notes"}"#
            let bad = [
                "not json", "{}",
                #"{"record":{"recordName":"x",\#(zone),"fields":{}}}"#,
                #"{"record":{"recordName":"y","recordType":"N",\#(zone),"#
                    + #""fields":{"photo":{"type":"ASSETID","value":{"size":1}}}},"#
                    + #""files":{"photo":["../secret"]}}"#,
                #"{"record":{"recordName":"z","recordType":"N",\#(zone),"fields":{},"#
                    + #""parent":{"recordName":"nobody"}}}"#,
                #"{"record":{"recordName":"w","recordType":"N",\#(zone),"#
                    + #""fields":{"n":{"type":"INT64","value":"many"}}}}"#,
            ]
            let good = #"{"record":{"recordName":"ok","recordType":"N",\#(zone),"fields":{}}}"#
            let ring = [("p", "q"), ("q", "p")].map { name, parent in
                #"{"record":{"recordName":"\#(name)","recordType":"N",\#(zone),"fields":{},"#
                    + #""parent":{"recordName":"\#(parent)"}}}"#
            }
            let lines =
                [header, #"{"zone":{"zoneName":"Notes"}}"#] + bad + [good] + ring
                + [#"{"end":{"zones":1,"records":5,"assets":0}}"#]
            _ = try cloud.file("secret", "x")
            let file = try cloud.file("bad.jsonl", lines.joined(separator: "\n") + "\n")
            let rejects = cloud.path("rejects.jsonl")
            let assets = cloud.path("assets")
            try FileManager.default.createDirectory(
                atPath: assets,
                withIntermediateDirectories: true
            )
            let outcome = try await cloud.run(
                "import",
                file,
                "--assets",
                assets,
                "--rejects",
                rejects,
                "--json"
            )
            #expect(outcome.status == 1)
            #expect(try outcome.objects().first?["rejected"] as? Int == 6)
            #expect(try outcome.objects().first?["records"] as? Int == 3)
            for number in 3...8 {
                #expect(outcome.errors.contains("\(file):\(number): "), "\(outcome.errors)")
            }
            #expect(outcome.errors.contains("fields.n"))
            let kept = try String(contentsOfFile: rejects, encoding: .utf8)
                .split(separator: "\n").map(String.init)
            #expect(Set(kept.dropFirst().dropLast()) == Set(bad))
            #expect(kept.first == header)
            let names = try await cloud.objects("records", "changes", "--zone", "Notes")
                .compactMap { $0["recordName"] as? String }
            #expect(Set(names) == ["ok", "p", "q"])

            // Rejected lines can be imported after they are corrected.
            let orphan = try #require(kept.first { $0.contains("nobody") })
            let mended = try cloud.file(
                "mended.jsonl",
                [kept[0], orphan.replacing("nobody", with: "ok"), kept[kept.count - 1]]
                    .joined(separator: "\n")
            )
            let imported = try await cloud.objects("import", mended)
            #expect(imported.first?["records"] as? Int == 1)
        }
    }

    @Test("Lists of files keep their order; equal files are kept once; shares are counted")
    func lists() async throws {
        try await ServedCloud.run { cloud in
            let assets = cloud.path("assets")
            try FileManager.default.createDirectory(
                atPath: assets,
                withIntermediateDirectories: true
            )
            for name in ["one", "two"] { _ = try cloud.file("assets/\(name)", name) }
            let zone = #""zoneID":{"zoneName":"Notes"}"#
            let lines = [
                #"{"export":{"version":1,"container":"c","environment":"development","#
                    + #""database":"private"}}"#,
                #"{"zone":{"zoneName":"Notes"}}"#,
                #"{"record":{"recordName":"a","recordType":"N",\#(zone),"fields":{"photos":"#
                    + #"{"type":"ASSETID_LIST","value":[{"size":3},{"size":3},{"size":3}]}}},"#
                    + #""files":{"photos":["two","one","two"]}}"#,
                #"{"record":{"recordName":"s","recordType":"cloudkit.share",\#(zone),"fields":{}}}"#,
                #"{"end":{"zones":1,"records":2,"assets":3}}"#,
            ]
            let file = try cloud.file("lists.jsonl", lines.joined(separator: "\n"))
            let imported = try await cloud.objects("import", file, "--assets", assets)
            #expect(imported.first?["assets"] as? Int == 3)
            #expect(imported.first?["shares"] as? Int == 1)
            #expect(imported.first?["records"] as? Int == 1)

            let (again, folder) = (cloud.path("again.jsonl"), cloud.path("folder"))
            try await cloud.objects("export", again, "--assets", folder, "--zone", "Notes")
            let kept = try String(contentsOfFile: again, encoding: .utf8).split(separator: "\n")
            let line = try #require(kept.first { $0.contains("files") })
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let names = try #require((object?["files"] as? [String: [String]])?["photos"])
            let texts = try names.map {
                try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8)
            }
            #expect(texts == ["two", "one", "two"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        }
    }

    @Test("A file that is shorter than its line says is refused, and the other lines are imported")
    func cutFiles() async throws {
        try await ServedCloud.run { cloud in
            for (name, text) in [("whole", "four"), ("half", "fo")] {
                _ = try cloud.file(name, text)
            }
            let zone = #""zoneID":{"zoneName":"Notes"}"#
            let records = ["whole", "half"].map { name in
                #"{"record":{"recordName":"\#(name)","recordType":"N",\#(zone),"fields":{"photo":"#
                    + #"{"type":"ASSETID","value":{"size":4}}}},"files":{"photo":["\#(name)"]}}"#
            }
            let lines =
                [
                    #"{"export":{"version":1,"container":"c","environment":"development","#
                        + #""database":"private"}}"#, #"{"zone":{"zoneName":"Notes"}}"#,
                ] + records + [#"{"end":{"zones":1,"records":2,"assets":2}}"#]
            let file = try cloud.file("half.jsonl", lines.joined(separator: "\n"))
            let imported = try await cloud.run("import", file, "--assets", cloud.folder.path)
            #expect(imported.status == 1)
            #expect(imported.errors.contains("it has 2 of 4 bytes"), "\(imported.errors)")
            let found = try await cloud.run("records", "get", "whole", "--zone", "Notes")
            #expect(found.status == 0, "\(found.errors)")
            let missing = try await cloud.run("records", "get", "half", "--zone", "Notes")
            #expect(missing.errors.contains("NOT_FOUND"), "\(missing.errors)")
        }
    }

    @Test("A file of a record stays where the line that replaces the record says nothing of it")
    func keptFiles() async throws {
        try await ServedCloud.run { cloud in
            let photo = try cloud.file("photo", "the picture")
            try await cloud.objects("zones", "create", "Notes")
            try await cloud.objects(
                "assets",
                "upload",
                photo,
                "--type",
                "N",
                "--name",
                "a",
                "--zone",
                "Notes",
                "--field",
                "photo"
            )
            let lines = [
                #"{"export":{"version":1,"container":"c","environment":"development","#
                    + #""database":"private"}}"#,
                #"{"zone":{"zoneName":"Notes"}}"#,
                #"{"record":{"recordName":"a","recordType":"N","zoneID":{"zoneName":"Notes"},"#
                    + #""fields":{"text":{"type":"STRING","value":"new"}}}}"#,
                #"{"end":{"zones":1,"records":1,"assets":0}}"#,
            ]
            let file = try cloud.file("page.jsonl", lines.joined(separator: "\n"))
            let imported = try await cloud.run("import", file)
            #expect(imported.status == 0, "\(imported.errors)")
            #expect(
                imported.errors.contains("Kept 1 file of existing records"),
                "\(imported.errors)"
            )
            let copy = cloud.path("copy")
            let loaded = try await cloud.run(
                "assets",
                "download",
                copy,
                "--name",
                "a",
                "--zone",
                "Notes",
                "--field",
                "photo"
            )
            #expect(loaded.status == 0, "\(loaded.errors)")
            #expect(try String(contentsOfFile: copy, encoding: .utf8) == "the picture")
            let saved = try await cloud.objects("records", "get", "a", "--zone", "Notes")
            #expect((saved.first?["fields"] as? [String: Any])?["text"] != nil)
        }
    }

    @Test("The public database is exported by type, and comes back")
    func publicDatabase() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects(
                "records",
                "save",
                "--database",
                "public",
                "--type",
                "City",
                "--name",
                "zrh",
                "--field",
                "name=Zürich"
            )
            let (file, assets) = (cloud.path("public.jsonl"), cloud.path("assets"))
            try await cloud.objects(
                "export",
                file,
                "--assets",
                assets,
                "--database",
                "public",
                "--type",
                "City"
            )
            try await cloud.objects("records", "delete", "zrh", "--database", "public")
            // Another user may not restore records that the service still has.
            try await cloud.objects("import", file, "--database", "public")
            let refused = try await cloud.run("import", file, "--database", "public", as: "bob")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("\(file):3: zrh: ACCESS_DENIED"), "\(refused.errors)")
            let back = try await cloud.run("records", "get", "zrh", "--database", "public")
            #expect(back.output.contains("Zürich"))
        }
    }

    @Test("The last of several lines about a record counts, also a deletion")
    func repeated() async throws {
        try await ServedCloud.run { cloud in
            let zone = #""zoneID":{"zoneName":"Notes"}"#
            func record(_ name: String, _ text: String, _ more: String = "") -> String {
                #"{"record":{"recordName":"\#(name)","recordType":"N",\#(zone),"#
                    + #""fields":{"text":{"value":"\#(text)"}}\#(more)}}"#
            }
            let lines = [
                #"{"export":{"version":1,"container":"c","environment":"development","#
                    + #""database":"private"}}"#,
                #"{"zone":{"zoneName":"Notes"}}"#,
                record("a", "first", #","parent":{"recordName":"late"}"#), record("b", "first"),
                record("b", "second"), record("gone", "x"), record("a", "second"),
                #"{"record":{"recordName":"gone",\#(zone),"deleted":true}}"#,
                record("late", "x"), #"{"end":{"zones":1,"records":7,"assets":0}}"#,
            ]
            let file = try cloud.file("twice.jsonl", lines.joined(separator: "\n"))
            try await cloud.objects("import", file)
            let found = try await cloud.objects("records", "get", "a", "b", "--zone", "Notes")
            for record in found {
                let fields = record["fields"] as? [String: [String: Any]]
                #expect(fields?["text"]?["value"] as? String == "second")
            }
            let gone = try await cloud.run("records", "get", "gone", "--zone", "Notes")
            #expect(gone.errors.contains("NOT_FOUND"))
        }
    }

    @Test("A file that was cut short, or is of another kind, is reported")
    func cutShort() async throws {
        try await ServedCloud.run { cloud in
            let foreign = try cloud.file("foreign.jsonl", "{\"a\":1}\n")
            let refused = try await cloud.run("import", foreign)
            #expect(refused.status == 2)
            #expect(refused.errors.contains("does not start as cloudkit export writes it"))
            let header =
                #"{"export":{"version":%,"container":"c","environment":"development","#
                + #""database":"private"}}"#
            let lines =
                header.replacing("%", with: "1") + "\n" + #"{"zone":{"zoneName":"A"}}"# + "\n"
            let end = #"{"end":{"zones":1,"records":0,"assets":0}}"#
            for rest in ["", "\n\n", String(end.dropLast(5))] {
                let cut = try cloud.file("cut.jsonl", lines + rest)
                let short = try await cloud.run("import", cut)
                #expect(short.status == 2)
                #expect(short.errors.contains("it was cut short, and nothing was imported"))
                let zones = try await cloud.run("zones", "list")
                #expect(!zones.output.contains("A\n"), "\(zones.output)")
            }
            let piped = try await cloud.run("import", "-", input: lines)
            #expect(piped.status == 1)
            #expect(piped.errors.contains("cut short. What it has was imported"))
            let full = try cloud.file("full.jsonl", lines + end + "\n")
            let away = try await cloud.run("import", full, "--url", "http://127.0.0.1:1")
            #expect(away.status == 1)
            #expect(away.errors.contains("Stopped at line 1; run the import again"))
            let newer = try cloud.file("newer.jsonl", header.replacing("%", with: "2") + "\n")
            let version = try await cloud.run("import", newer)
            #expect(version.status == 2)
            #expect(version.errors.contains("version 2"))
        }
    }
}
