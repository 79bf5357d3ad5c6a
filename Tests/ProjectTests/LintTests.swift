import Foundation
import Testing

@Suite("Scripts/lint")
struct LintTests {
    /// Lints one file in a folder with one of the repository's two configurations.
    private func lint(_ text: String, configuration: String) async throws -> Script {
        let folder = try TemporaryFolder()
        let rules = Repository.root.appending(path: configuration)
        try folder.write(String(contentsOf: rules, encoding: .utf8), to: ".swift-format")
        let file = try folder.write(text, to: "File.swift")
        return try await Script.run("Scripts/lint", file)
    }

    @Test("A well-formed file passes")
    func wellFormed() async throws {
        let text =
            "/// A point.\npublic struct Point {\n    /// To the right.\n    public var x: Int\n}\n"
        #expect(try await lint(text, configuration: ".swift-format").status == 0)
    }

    @Test("A badly indented file fails, under both configurations")
    func badlyFormatted() async throws {
        for configuration in [".swift-format", "Tests/.swift-format"] {
            let run = try await lint(
                "struct Point {\n  var x : Int\n}\n",
                configuration: configuration
            )
            #expect(run.status != 0)
            #expect(run.output.contains("[Indentation]"))
        }
    }

    @Test("Undocumented public API and force unwraps fail in sources and pass in tests")
    func relaxedForTests() async throws {
        let text = "public let first = [1].first!\n"
        let inSources = try await lint(text, configuration: ".swift-format")
        #expect(inSources.status != 0)
        #expect(inSources.output.contains("[AllPublicDeclarationsHaveDocumentation]"))
        #expect(inSources.output.contains("[NeverForceUnwrap]"))
        #expect(try await lint(text, configuration: "Tests/.swift-format").status == 0)
    }

    @Test("The two configurations differ in the relaxed rules only")
    func configurationsAgree() throws {
        var sources = try configuration(".swift-format")
        var tests = try configuration("Tests/.swift-format")
        var rules = try #require(sources.removeValue(forKey: "rules") as? [String: Bool])
        let relaxed = try #require(tests.removeValue(forKey: "rules") as? [String: Bool])
        for rule in [
            "AllPublicDeclarationsHaveDocumentation", "NeverForceUnwrap", "NeverUseForceTry",
            "NeverUseImplicitlyUnwrappedOptionals", "ValidateDocumentationComments",
        ] {
            rules[rule] = false
        }
        #expect(rules == relaxed)
        #expect(NSDictionary(dictionary: sources) == NSDictionary(dictionary: tests))
    }

    private func configuration(_ path: String) throws -> [String: Any] {
        let data = try Data(contentsOf: Repository.root.appending(path: path))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
}
