import Foundation
import Testing

@Suite("cloudkit schema")
struct SchemaCommandTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("SchemaCommandTests-\(UUID().uuidString)")

    private static let small = """
        DEFINE SCHEMA
        RECORD TYPE Note ( title STRING QUERYABLE );
        """
    private static let large = """
        DEFINE SCHEMA
        RECORD TYPE Note ( title STRING QUERYABLE, done INT64 );
        RECORD TYPE Tag ( name STRING );
        """

    private func inFolder(_ body: () async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body()
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let file = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private func run(_ arguments: String...) async throws -> CommandProcess.Outcome {
        try await CommandProcess.run(["schema"] + arguments)
    }

    @Test("A schema is valid, a mistake is found with its place, and no file is neither")
    func validate() async throws {
        try await inFolder {
            let good = try await run("validate", file("good.ckdb", Self.small))
            #expect(good.status == 0, "\(good.errors)")
            let path = try file("bad.ckdb", "DEFINE SCHEMA\nRECORD TYPE Note ( title TEXT );")
            let bad = try await run("validate", path)
            #expect(bad.status == 1)
            #expect(bad.errors.contains("bad.ckdb, line 2, column"))
            let verdict = try await run("validate", path, "--json")
            #expect(verdict.status == 1)
            #expect(try verdict.objects().first?["valid"] as? Bool == false)
            #expect(try verdict.objects().first?["line"] as? Int == 2)
            let none = try await run("validate", folder.path + "/none.ckdb")
            #expect(none.status == 2)
            let usage = try await run("validate")
            #expect(usage.status == 2)
            #expect(usage.errors.contains("<file>"))
        }
    }

    @Test("Schemas that differ are distinguished by the status, whether or not somebody reads how")
    func unreadDifferences() async throws {
        try await inFolder {
            let (small, large) = (try file("a.ckdb", Self.small), try file("b.ckdb", Self.large))
            // A pipe whose reader has gone, as after a head that has what it wanted.
            let outcome = try await CommandProcess.shell(
                """
                cd '\(folder.path)' && mkfifo pipe && exec 3<>pipe 4>pipe 3<&-
                "$0" schema diff '\(small)' '\(large)' >&4
                """
            )
            #expect(outcome.status == 1, "\(outcome.errors)")
            #expect(outcome.errors == "")
        }
    }

    @Test("A schema comes from standard input or a pipe, too", arguments: ["-", "/dev/stdin"])
    func piped(file: String) async throws {
        let typed = try await CommandProcess.run(
            ["schema", "validate", file],
            input: Self.small
        )
        #expect(typed.status == 0, "\(typed.errors)")
        try await inFolder {
            let data = folder.appendingPathComponent("cloud").path
            let imported = try await CommandProcess.run(
                ["schema", "import", file, "--data", data, "--new", "--container", "iCloud.a"],
                input: Self.small
            )
            #expect(imported.status == 0, "\(imported.errors)")
            let exported = try await run("export", "--data", data)
            #expect(exported.output.contains("RECORD TYPE Note"), "\(exported.errors)")
        }
    }

    @Test("A comparison says what differs, and so does its status")
    func diff() async throws {
        try await inFolder {
            let (small, large) = (try file("a.ckdb", Self.small), try file("b.ckdb", Self.large))
            let same = try await run("diff", small, small)
            #expect(same.status == 0)
            #expect(same.output.isEmpty)
            let grown = try await run("diff", small, large)
            #expect(grown.status == 1)
            #expect(grown.output == "+ Note: done INT64\n+ Tag: RECORD TYPE Tag\n")
            let shrunk = try await run("diff", large, small, "--json")
            #expect(shrunk.status == 1)
            #expect(try shrunk.objects().map { $0["losesData"] as? Bool } == [true, true])
            #expect(try shrunk.objects().map { $0["change"] as? String } == ["removed", "removed"])
            let unreadable = try await run("diff", small, folder.path + "/none")
            #expect(unreadable.status == 2)
            let invalid = try await run("diff", small, file("c.ckdb", "nothing"))
            #expect(invalid.status == 2)
            #expect(invalid.errors.contains("c.ckdb, line 1"))
        }
    }

    @Test("A schema is imported, exported and deployed; a dry run changes nothing")
    func deploy() async throws {
        try await inFolder {
            let (small, large) = (try file("a.ckdb", Self.small), try file("b.ckdb", Self.large))
            let data = folder.path + "/cloud"
            let unnamed = try await run("import", small, "--data", data, "--new")
            #expect(unnamed.status == 2)
            #expect(
                unnamed.errors.contains(
                    "/cloud has no container yet; give --new, and --container with the name that the app uses"
                )
            )
            let made = try await run("import", small, "--data", data, "--container", "c", "--new")
            #expect(made.status == 0, "\(made.errors)")
            #expect(made.output == "+ Note: RECORD TYPE Note\n")
            let dry = try await run("import", large, "--data", data, "--dry-run")
            #expect(dry.output.contains("+ Note: done INT64"))
            #expect(dry.errors.contains("2 would change in c, development"))
            let exported = try await run("export", "--data", data)
            #expect(exported.output.contains("title STRING QUERYABLE"))
            #expect(!exported.output.contains("done"))

            let planned = try await run("deploy", "--dry-run", "--data", data)
            #expect(planned.status == 0)
            #expect(planned.output == "+ Note: RECORD TYPE Note\n")
            #expect(try await run("diff", data + ":production", data).status == 1)
            #expect(try await run("deploy", "--data", data).status == 0)
            #expect(try await run("diff", data + ":production", data).status == 0)

            #expect(try await run("import", large, "--data", data).status == 0)
            #expect(try await run("deploy", "--data", data).status == 0)
            #expect(try await run("import", small, "--data", data).status == 0)
            // Production keeps its types and fields.
            let refused = try await run("deploy", "--data", data)
            #expect(refused.status == 1)
            #expect(refused.errors.contains("Production keeps every type and field"))
            #expect(try await run("diff", data + ":production", large).status == 1)
            let after = try await run(
                "export",
                "--data",
                data,
                "--environment",
                "production",
                "--output",
                folder.path + "/p.ckdb"
            )
            #expect(after.status == 0)
            let text = try String(contentsOfFile: folder.path + "/p.ckdb", encoding: .utf8)
            #expect(text.contains("done INT64"))
        }
    }

    @Test("CI fails when the app grew beyond what is deployed, and only then")
    func check() async throws {
        try await inFolder {
            let (small, large) = (try file("a.ckdb", Self.small), try file("b.ckdb", Self.large))
            let lacking = try await run("check", large, "--against", small)
            #expect(lacking.status == 1)
            #expect(lacking.output.contains("+ Note: done INT64"))
            #expect(lacking.errors.contains("deploy it first"))
            #expect(try await run("check", small, "--against", large).status == 0)
            #expect(try await run("check", small, "--against", folder.path + "/x").status == 2)
            let data = folder.path + "/cloud"
            let made = try await run("import", large, "--data", data, "--container", "c", "--new")
            #expect(made.status == 0, "\(made.errors)")
            #expect(try await run("check", data, "--against", small).status == 1)
            #expect(try await run("check", data, "--against", data).status == 0)
        }
    }

    @Test("Of several containers one has to be named")
    func containers() async throws {
        try await inFolder {
            let small = try file("a.ckdb", Self.small)
            let data = folder.path + "/cloud"
            for container in ["one", "two"] {
                let made = try await run(
                    "import",
                    small,
                    "--data",
                    data,
                    "--container",
                    container,
                    "--new"
                )
                #expect(made.status == 0, "\(made.errors)")
            }
            let mistyped = try await run("diff", data + ":prod", small)
            #expect(mistyped.status == 2)
            #expect(mistyped.errors.contains("production"), "\(mistyped.errors)")
            let planned = try await run(
                "import",
                small,
                "--data",
                data,
                "--container",
                "three",
                "--dry-run",
                "--new"
            )
            #expect(planned.status == 0, "\(planned.errors)")
            #expect(planned.output == "+ Note: RECORD TYPE Note\n")
            let unknown = try await run("export", "--data", data, "--container", "three")
            #expect(unknown.status == 2)
            #expect(unknown.errors.contains("one, two"))
            let open = try await run("export", "--data", data)
            #expect(open.status == 2)
            #expect(open.errors.contains("one, two"))
            #expect(try await run("export", "--data", data, "--container", "two").status == 0)
        }
    }
}
