import Foundation
import Testing

// Rows outside of records that are lost, overwritten, or contradict each other.
extension OperatingTests {
    @Test("A check removes no records of a zone that is marked as discarded, and names the mark")
    func discardedByMistake() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            let whole = try await run("check", "--data", data)
            #expect(whole.status == 0, "\(whole.output)")
            try sqlite(
                data + "/cloud.sqlite",
                """
                UPDATE content SET isDiscarded = 1
                WHERE id = (SELECT content FROM zone WHERE name = 'Notes')
                """
            )
            let found = try await run("check", "--data", data)
            #expect(found.status == 1)
            #expect(found.output.contains("table content, row"), "\(found.output)")
            #expect(found.output.hasSuffix(whole.output), "\(found.output)")
            let repaired = try await run("check", "--data", data, "--repair")
            #expect(repaired.status == 0, "\(repaired.output)\(repaired.errors)")
            let again = try await run("check", "--data", data)
            #expect(again.status == 0)
            #expect(again.output == whole.output)
        }
    }

    @Test(
        "A check names the row that is damaged, and no good backup is replaced then",
        arguments: [
            ("DELETE FROM zone WHERE name = 'Notes'", "table content, row"),
            ("DELETE FROM user WHERE givenName = 'Ada'", "in table user, found none"),
            ("UPDATE document SET body = 'x'", "table document, row"),
            ("UPDATE database SET headSequence = 0", "found headSequence 0"),
            (
                "UPDATE environment SET schema = X'7B' WHERE schema IS NOT NULL",
                "the schema cannot be read"
            ),
            ("UPDATE environment SET kind = 'x' WHERE kind = 'production'", "found kind 'x'"),
        ]
    )
    func damagedRow(statement: String, words: String) async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            try sqlite(data + "/cloud.sqlite", statement)
            let found = try await run("check", "--data", data, "--json")
            #expect(found.status == 1)
            let problems = try found.objects().compactMap { $0["problem"] as? String }
            let named = problems.filter { $0.contains(words) }
            #expect(!named.isEmpty, "\(problems)")
            #expect(named.allSatisfy { $0.contains("backup") }, "\(named)")
            let good = try cloud.file("good.tar", "the last good one")
            let backup = try await run("backup", good, "--data", data, "--force", "--json")
            #expect(backup.status == 1)
            #expect(backup.errors.contains("left as it was"), "\(backup.errors)")
            let reported = try backup.objects().first?["problems"] as? [String]
            #expect(reported?.contains { $0.contains(words) } == true, "\(backup.output)")
            #expect(try String(contentsOfFile: good, encoding: .utf8) == "the last good one")
        }
    }

    @Test(
        "A zone that was lost is named also where a snapshot has its content",
        arguments: ["Notes", "Later"]
    )
    func lostZoneOfSnapshot(zone: String) async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            try await cloud.objects("zones", "create", "Later")
            for name in ["first", "second"] {
                try await cloud.objects("snapshots", "take", name, as: "operator")
            }
            // A copy with the change tokens of the server, and one of which they have expired.
            let data = cloud.path("same")
            try FileManager.default.createDirectory(
                atPath: data,
                withIntermediateDirectories: false
            )
            try FileManager.default.copyItem(
                atPath: cloud.data + "/assets",
                toPath: data + "/assets"
            )
            try sqlite(cloud.data + "/cloud.sqlite", "VACUUM INTO '\(data)/cloud.sqlite'")
            let expired = try await copy(of: cloud)
            // Of the newest zone a restore of an earlier snapshot is another explanation.
            for data in zone == "Notes" ? [data, expired] : [data] {
                #expect(try await run("check", "--data", data).status == 0)
                try sqlite(data + "/cloud.sqlite", "DELETE FROM zone WHERE name = '\(zone)'")
                let found = try await run("check", "--data", data, "--json")
                #expect(found.status == 1)
                let problems = try found.objects().compactMap { $0["problem"] as? String }
                #expect(problems.count == 1, "\(problems)")
                #expect(problems.first?.contains("the zone '\(zone)' of a snapshot") == true)
                #expect(problems.first?.contains("backup") == true)
            }
        }
    }

    @Test("A zone of a snapshot that went with a reset or a restore is not lost")
    func removedZoneOfSnapshot() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            try await cloud.objects("snapshots", "take", "first", as: "operator")
            try await cloud.objects("zones", "create", "Later")
            try await cloud.objects("snapshots", "take", "second", as: "operator")
            for words in [["snapshots", "restore", "first"], ["containers", "reset"]] {
                let outcome = try await CommandProcess.run(
                    words,
                    settings: try cloud.settings(of: "operator")
                )
                #expect(outcome.status == 0, "\(outcome.errors)")
                let check = try await run("check", "--data", cloud.data)
                #expect(check.status == 0, "\(words): \(check.output)")
            }
        }
    }

    @Test(
        "An asset that cannot be read is named, and the backup has all the rest",
        arguments: ["folder", "link"]
    )
    func unreadableAsset(kind: String) async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            let names = try FileManager.default.subpathsOfDirectory(atPath: data + "/assets")
            let name = try #require(names.first { $0.split(separator: "/").last?.count == 64 })
            let file = URL(fileURLWithPath: data + "/assets/" + name)
            try FileManager.default.removeItem(at: file)
            if kind == "folder" {
                try FileManager.default.createDirectory(
                    at: file,
                    withIntermediateDirectories: false
                )
            } else {
                try FileManager.default.createSymbolicLink(
                    at: file,
                    withDestinationURL: URL(fileURLWithPath: cloud.path("photo"))
                )
            }
            let archive = cloud.path("rest.tar")
            let backup = try await run("backup", archive, "--data", data)
            #expect(backup.status == 1)
            #expect(backup.errors.contains(file.lastPathComponent), "\(backup.errors)")
            let restored = try await run("restore", archive, "--data", cloud.path("rest"))
            #expect(restored.status == 1)
            #expect(restored.errors.contains(file.lastPathComponent), "\(restored.errors)")
        }
    }

    @Test("Of an empty database there is no backup, and what to do is said")
    func emptyDatabase() async throws {
        try await ServedCloud.run { cloud in
            let data = try await copy(of: cloud)
            try Data().write(to: URL(fileURLWithPath: data + "/cloud.sqlite"))
            let outcome = try await run("backup", cloud.path("b.tar"), "--data", data)
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("is empty"), "\(outcome.errors)")
            #expect(outcome.errors.contains("restore a backup"), "\(outcome.errors)")
        }
    }
}
