import Foundation
import Testing

@Suite("The ledger of Apple's symbols")
struct LedgerTests {
    /// The folder of the build, which contains the test's own executable.
    private static let build = URL(fileURLWithPath: CommandLine.arguments[0])
        .deletingLastPathComponent().path

    @Test("Each of Apple's declarations stands there as the built module has it")
    func isCurrent() async throws {
        let run = try await Script.run("Scripts/api-ledger", "--check", Self.build)
        #expect(run.status == 0, "\(run.output)")
    }

    @Test("A row that says something else is found, and so is a declaration that went missing")
    func isChecked() async throws {
        let folder = try TemporaryFolder()
        for path in [
            "Scripts/api-ledger", "Scripts/apple-symbols.tsv", "docs/reference/symbols.md",
        ] {
            let file = Repository.root.appending(path: path)
            try folder.write(try String(contentsOf: file, encoding: .utf8), to: path)
        }
        let script = folder.url.appending(path: "Scripts/api-ledger").path
        func check() async throws -> Script {
            try await Script.run("Scripts/step", "Ledger", "python3", script, "--check", Self.build)
        }
        let same = try await check()
        #expect(same.status == 0, "\(same.output)")

        let symbols = try String(
            contentsOf: folder.url.appending(path: "Scripts/apple-symbols.tsv"),
            encoding: .utf8
        )
        try folder.write(
            symbols + "CKRecord.teleport()\tmethod\tfunc teleport()\n",
            to: "Scripts/apple-symbols.tsv"
        )
        let changed = try await check()
        #expect(changed.status == 1)
        #expect(changed.output.contains("+| `CKRecord.teleport()` | `func teleport()` | missing |"))
    }
}
