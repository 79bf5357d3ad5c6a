import Foundation
import Testing

@Suite("Scripts/mutants")
struct MutantTests {
    @Test("Every planted defect says what is wrong with it, who finds it, and still applies")
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
}
