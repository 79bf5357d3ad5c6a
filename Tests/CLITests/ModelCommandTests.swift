import Foundation
import Testing

@Suite("cloudkit model, and schemas of models")
struct ModelCommandTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("CloudKitCoreDataTests/Fixtures")
    private let model = fixtures.appendingPathComponent("App.xcdatamodeld").path
    private let store = fixtures.appendingPathComponent("Trips.store").path

    private func run(_ arguments: String...) async throws -> CommandProcess.Outcome {
        try await CommandProcess.run(arguments)
    }

    @Test(
        "The schema of a model goes into a server, which then takes Core Data's records over HTTP"
    )
    func served() async throws {
        try await ServedCloud.run { cloud in
            let file = cloud.path("app.ckdb")
            let made = try await run("schema", "from-model", model, "--output", file)
            #expect(made.status == 0, "\(made.errors)")
            let again = try await run("schema", "from-model", model, "--output", file)
            #expect(again.status == 2)
            #expect(again.errors.contains("--force"))
            #expect(made.errors.contains("cloudkit model lint"))
            let imported = try await run("schema", "import", file, "--data", cloud.data)
            #expect(imported.status == 0, "\(imported.errors)")
            let deployed = try await run("schema", "deploy", "--data", cloud.data)
            #expect(deployed.status == 0, "\(deployed.errors)")
            let checked = try await run(
                "schema",
                "check",
                "--model",
                model,
                "--schema",
                cloud.data + ":production"
            )
            #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
            #expect(checked.output.isEmpty)
            // Development tokens are valid only for development.
            let url = try #require(try cloud.settings(of: "ada")["CLOUDKIT_URL"])
            let tokens = try await run(
                "tokens",
                "web-auth",
                "--user",
                "Ada",
                "--data",
                cloud.data,
                "--environment",
                "production",
                "--url",
                url
            )
            #expect(tokens.status == 0, "\(tokens.errors)")
            let settings = ServedCloud.settings(tokens.output)
            let zone = "com.apple.coredata.cloudkit.zone"
            let zoned = try await CommandProcess.run(["zones", "create", zone], settings: settings)
            #expect(zoned.status == 0, "\(zoned.errors)")
            func save(_ field: String) async throws -> CommandProcess.Outcome {
                try await CommandProcess.run(
                    [
                        "records", "save", "--zone", zone, "--type", "CD_Note", "--name", "B7E2",
                        "--field", "CD_entityName=Note", "--field", field,
                    ],
                    settings: settings
                )
            }
            let taken = try await save("CD_body=Milk")
            #expect(taken.status == 0, "\(taken.errors)")
            // Production has the model's fields, and no others.
            #expect(try await save("CD_other=Milk").status == 1)
        }
    }

    @Test("A check names what a schema lacks, and so does its status")
    func check() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ModelCommandTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let schema = try await run("schema", "from-model", "--store", store)
        #expect(schema.status == 0, "\(schema.errors)")
        let file = folder.appendingPathComponent("production.ckdb")
        let lines = schema.output.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("CD_tags_ckAsset") }
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        let missing = try await run(
            "schema",
            "check",
            "--store",
            store,
            "--schema",
            file.path,
            "--json"
        )
        #expect(missing.status == 1)
        let object = try #require(try missing.objects().first)
        #expect(object["kind"] as? String == "missingField")
        #expect(object["field"] as? String == "CD_tags_ckAsset")
        #expect(object["property"] as? String == "Trip.tags")
        #expect(missing.errors.contains("lacks 1 thing that"), "\(missing.errors)")
        let broken = try await run(
            "schema",
            "check",
            "--model",
            folder.path + "/none.xcdatamodeld",
            "--schema",
            file.path
        )
        #expect(broken.status == 2)
        let both = try await run(
            "schema",
            "check",
            "--model",
            model,
            "--store",
            store,
            "--schema",
            file.path
        )
        #expect(both.status == 2)
    }

    @Test("Lint prints each finding and fails for errors alone")
    func lint() async throws {
        let bad = try await run("model", "lint", model)
        #expect(bad.status == 1)
        #expect(bad.output.contains("error: Folder.notes: it is ordered"))
        #expect(bad.errors.contains("futureFlag"))
        let objects = try await run("model", "lint", model, "--json").objects()
        #expect(objects.contains { $0["rule"] as? String == "denyRule" })
        let first = try await run("model", "lint", model, "--model-version", "App")
        #expect(first.status == 0, "\(first.output)")
        #expect(first.output.contains("warning: Note.tags"))
        let stored = try await run("model", "lint", "--store", store)
        #expect(stored.status == 1)
        #expect(stored.output.contains("Stop.weather: it has no inverse"))
        #expect(try await run("model", "lint").status == 2)
    }

    @Test("A configuration that is not there, and a model without entities, cannot be used")
    func unusable() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ModelCommandTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let empty = folder.path + "/contents"
        try Data("<model></model>".utf8).write(to: URL(fileURLWithPath: empty))
        let schema = folder.path + "/production.ckdb"
        try Data("DEFINE SCHEMA".utf8).write(to: URL(fileURLWithPath: schema))
        for command in [
            ["model", "lint"], ["schema", "from-model"],
            ["schema", "check", "--schema", schema, "--model"],
        ] {
            let other = try await CommandProcess.run(command + [model, "--configuration", "Nope"])
            #expect(other.status == 2, "\(command)")
            #expect(other.errors.contains("has no configuration Nope"), "\(other.errors)")
            let none = try await CommandProcess.run(command + [empty])
            #expect(none.status == 2, "\(command)")
            #expect(none.errors.contains("the model has no entities"), "\(none.errors)")
        }
        let place = try await run("schema", "check", "--model", model, "--schema", folder.path)
        #expect(place.status == 2)
        #expect(place.errors.contains("or a file with a schema"), "\(place.errors)")
        #expect(!place.errors.contains("--new"))
    }

    @Test("Two versions are compared, and equal ones have status 0")
    func diff() async throws {
        let changed = try await run("model", "diff", model, "--from", "App")
        #expect(changed.status == 1)
        #expect(changed.output.contains("renamed Note.body: was text"))
        #expect(changed.output.contains("needs a mapping"))
        let same = try await run("model", "diff", model, "--from", "App 2")
        #expect(same.status == 0)
        #expect(same.output.isEmpty)
        let itself = try await run("model", "diff", model)
        #expect(itself.status == 2)
        #expect(itself.errors.contains("nothing to compare"))
    }
}
