import Foundation
import Testing

@Suite("Tests that documents name")
struct TestCatalogueTests {
    @Test(
        "Every test that a table of a document names is there",
        arguments: [
            "docs/compatibility/ckrecordwrapper.md", "docs/compatibility/cloudkitcodable.md",
            "docs/compatibility/nestedcloudkitcodable.md", "docs/compatibility/stitch.md",
            "docs/internals/behaviour.md", "docs/operating/threat-model.md",
            "docs/reference/codable-features.md",
        ]
    )
    func documents(path: String) throws {
        let catalogue = TestCatalogue(try Repository.swiftFiles(under: "Tests"))
        let text = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
        #expect(text.contains("| shown by |"))
        #expect(catalogue.problems(in: text) == [])
    }

    private let catalogue = TestCatalogue([
        SourceFile(
            path: "File.swift",
            text: """
                @Suite("First")
                struct A {
                    @Test("One is here")
                    func one() {}
                    @Test(
                        "Two \\"quoted\\"",
                        arguments: [1]
                    )
                    func two(_ number: Int) {}
                }
                @Suite("Second") struct B {
                    @Test("Three") func three() {}
                }
                """
        )
    ])

    private func problems(_ cell: String) -> [String] {
        catalogue.problems(in: "| rule | shown by |\n|---|---|\n| row | \(cell) |\n")
    }

    @Test("Tests are known by their suite and their sentence")
    func names() {
        #expect(problems(#"First: "One is here"; Second: "Three""#) == [])
        #expect(problems("First: all tests") == [])
        #expect(problems("–") == [])
    }

    @Test("A test that is gone, in another suite or not named at all fails")
    func missing() {
        #expect(
            problems(#"First: "Four""#) == [#"row: the suite First has no test "Four""#]
        )
        #expect(problems(#"Second: "One is here""#).count == 1)
        #expect(problems("Third: all tests") == ["row: no suite Third"])
        #expect(problems("some test") == ["row: some test names no test"])
    }
}
