import Foundation
import Testing

@Suite("cloudkit shares")
struct ShareCommandTests {
    /// Runs a test in which Ada has shared her record `list`; the test receives the link and Bob.
    private static func run(
        _ body: (ServedCloud, _ link: String, _ bob: String) async throws -> Void
    ) async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "Lists")
            try await cloud.objects(
                "records",
                "save",
                "--zone",
                "Lists",
                "--type",
                "List",
                "--name",
                "list",
                "--field",
                "title=Milk"
            )
            let made = try await cloud.objects(
                "shares",
                "create",
                "--zone",
                "Lists",
                "--record",
                "list",
                "--title",
                "Shopping"
            )
            let link = try #require(made.first?["shortGUID"] as? String)
            let bob = try await cloud.objects("users", "current", as: "bob").first?[
                "userRecordName"
            ]
            try await body(cloud, link, try #require(bob as? String))
        }
    }

    /// Returns the arguments with which Bob finds the zone.
    private static func place(_ cloud: ServedCloud) async throws -> [String] {
        let ada = try await cloud.objects("users", "current").first?["userRecordName"]
        return [
            "--database", "shared", "--zone", "Lists", "--owner", try #require(ada as? String),
        ]
    }

    @Test("An invited user accepts by the link, sees what is shared, and leaves")
    func participant() async throws {
        try await Self.run { cloud, link, bob in
            let early = try await cloud.run("shares", "accept", link, as: "bob")
            #expect(early.status == 1)
            let invited = try await cloud.run("shares", "invite", link, bob)
            #expect(invited.status == 0, "\(invited.errors)")
            let url = "https://example.com/share/\(link)#Shopping"
            let accepted = try await cloud.run("shares", "accept", url, as: "bob")
            #expect(accepted.status == 0, "\(accepted.errors)")
            #expect(accepted.errors.contains("--database shared --zone Lists --owner _"))
            let place = try await Self.place(cloud)
            let settings = try cloud.settings(of: "bob")
            let seen = try await CommandProcess.run(
                ["records", "get", "list"] + place,
                settings: settings
            )
            #expect(seen.output.contains("Milk"), "\(seen.errors)")
            let shares = try await cloud.objects("shares", "list", as: "bob")
            #expect(shares.map { $0["shortGUID"] as? String } == [link])
            let mine = try await cloud.objects(
                "shares",
                "list",
                "--database",
                "private",
                as: "bob"
            )
            #expect(mine.isEmpty)

            let left = try await cloud.run("shares", "delete", link, as: "bob")
            #expect(left.status == 0, "\(left.errors)")
            #expect(try await cloud.objects("shares", "list", as: "bob").isEmpty)
            #expect(try await cloud.objects("shares", "list").count == 1)
        }
    }

    @Test("The owner lists a share, changes who may do what, and stops sharing")
    func owner() async throws {
        try await Self.run { cloud, link, bob in
            let listed = try await cloud.run("shares", "list")
            #expect(listed.output.contains("Shopping") && listed.output.contains(link))
            try await cloud.objects("shares", "invite", link, bob, "--access", "read-only")
            try await cloud.objects("shares", "accept", link, as: "bob")
            let shown = try await cloud.run("shares", "show", link)
            #expect(shown.output.contains("Record list in zone Lists"), "\(shown.output)")
            let row = try #require(shown.output.split(separator: "\n").first { $0.hasPrefix(bob) })
            #expect(row.contains("read-only") && row.contains("ACCEPTED"))

            let settings = try cloud.settings(of: "bob")
            let save =
                ["records", "save", "--type", "List", "--name", "list", "--field", "title=Oats"]
                + (try await Self.place(cloud))
            #expect(try await CommandProcess.run(save, settings: settings).status == 1)
            try await cloud.objects("shares", "invite", link, bob)
            let saved = try await CommandProcess.run(save, settings: settings)
            #expect(saved.status == 0, "\(saved.errors)")

            let foreign = try await cloud.run("shares", "remove", link, bob, as: "bob")
            #expect(foreign.status == 1)
            #expect(foreign.errors.contains("Only the owner"))
            try await cloud.objects("shares", "remove", link, bob)
            #expect(try await CommandProcess.run(save, settings: settings).status == 1)
            let twice = try await cloud.run("shares", "remove", link, bob)
            #expect(twice.errors.contains("does not take part"))

            try await cloud.objects("shares", "update", link, "--everyone", "read-only")
            try await cloud.objects("shares", "accept", link, as: "bob")
            let deleted = try await cloud.run("shares", "delete", link)
            #expect(deleted.status == 0, "\(deleted.errors)")
            #expect(try await cloud.objects("shares", "list").isEmpty)
            let kept = try await cloud.run("records", "get", "list", "--zone", "Lists")
            #expect(kept.output.contains("Oats"))
        }
    }

    @Test("A whole zone is shared, for everyone with the link")
    func zone() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "Photos")
            let made = try await cloud.objects(
                "shares",
                "create",
                "--zone",
                "Photos",
                "--everyone",
                "read-write"
            )
            #expect(made.first?["recordName"] as? String == "cloudkit.zoneshare")
            let link = try #require(made.first?["shortGUID"] as? String)
            try await cloud.objects("shares", "accept", link, as: "bob")
            let shown = try await cloud.run("shares", "show", link, as: "bob")
            #expect(shown.output.contains("The whole zone Photos"), "\(shown.output)")
            #expect(shown.output.contains("Everyone with the link: read-write"))
            let unknown = try await cloud.run("shares", "show", "nothing", as: "bob")
            #expect(unknown.status == 1)
        }
    }
}
