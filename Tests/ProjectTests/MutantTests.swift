import Foundation
import Testing

@Suite("Scripts/mutants")
struct MutantTests {
    @Test("Every mutant says what is wrong with it and who finds it, applies, and is documented")
    func repository() async throws {
        let run = try await Script.run("Scripts/mutants", "--applies")
        #expect(run.status == 0, "\(run.output)")
    }

    @Test("A patch without its head, or for lines that are gone, is found")
    func planted() async throws {
        let patch = """
            --- a/LICENSE
            +++ b/LICENSE
            @@ -1 +1 @@
            -A line that is nowhere
            +Another one

            """
        for head in ["", "Mutant: It is wrong.\nFound-by: Nobody\n\n"] {
            let folder = try TemporaryFolder()
            try folder.write(head + patch, to: "Area/one.patch")
            let run = try await Script.run(
                "Scripts/mutants",
                "--applies",
                environment: ["MUTANTS": folder.url.path]
            )
            #expect(run.status == 1)
            #expect(run.output.contains("has no line") == head.isEmpty)
            #expect(run.output.contains("does not apply any more"))
        }
    }

    @Test("A table of the mutants that lacks one is found, and written again")
    func table() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            Mutant: It is wrong.
            Seen-in: Elsewhere
            Found-by: ModuleTests.SuiteTests/test
            Schedules: plain 7

            --- a/Makefile
            +++ b/Makefile
            @@ -0,0 +1 @@
            +A line

            """,
            to: "patches/Store/one.patch"
        )
        try folder.write(
            "Before\n\n<!-- mutants -->\n\n<!-- end of mutants -->\n\nAfter\n",
            to: "table.md"
        )
        let file = folder.url.appendingPathComponent("table.md")
        let environment = [
            "MUTANTS": folder.url.appendingPathComponent("patches").path,
            "MUTANTS_DOCUMENT": file.path,
        ]
        let before = try await Script.run("Scripts/mutants", "--applies", environment: environment)
        #expect(before.status == 1)
        #expect(before.output.contains("run Scripts/mutants --table"))
        #expect(
            try await Script.run("Scripts/mutants", "--table", environment: environment).status == 0
        )
        #expect(
            try String(contentsOf: file, encoding: .utf8) == """
                Before

                <!-- mutants -->

                | mutant | what is wrong with it | seen in | found by |
                |---|---|---|---|
                | `one` | It is wrong. | Elsewhere | `SuiteTests/test`, plain 7 |

                <!-- end of mutants -->

                After

                """
        )
        let after = try await Script.run("Scripts/mutants", "--applies", environment: environment)
        #expect(!after.output.contains("--table"))
    }
}
