import Foundation
import Testing

@Suite("Links of the documents")
struct LinkTests {
    /// Returns the output of the script for a folder with these files.
    private func problems(_ files: [String: String]) async throws -> [Substring] {
        let folder = try TemporaryFolder()
        for (path, text) in files { try folder.write(text, to: path) }
        let run = try await Script.run("Scripts/links", "--root", folder.url.path)
        #expect((run.status == 0) == run.output.isEmpty)
        return run.output.split(separator: "\n")
    }

    @Test("Every link leads to a file or a heading, and every page that is named is there")
    func repository() async throws {
        let run = try await Script.run("Scripts/links")
        #expect(run.status == 0, "\(run.output)")
    }

    @Test("Links within a page, to a page and to a heading of it pass, and so does code")
    func resolved() async throws {
        let page = """
            # First

            [here](#its-own-heading), [there](docs/other.md), [deep](docs/other.md#two-words-1),
            [far](https://example.com/nothing), `[code](nowhere.md)`

            ```
            [code](nowhere.md)
            ```

            ## Its own `heading`
            """
        let other = "# Other\n\n## Two words\n\n## Two words\n\n[back](../README.md)\n"
        #expect(try await problems(["README.md": page, "docs/other.md": other]) == [])
    }

    @Test("A link to a file or a heading that is gone is found, and so is a path in a source")
    func broken() async throws {
        let found = try await problems([
            "README.md": "[a](docs/gone.md)\n\n[b](docs/here.md#gone)\n\n[c](#gone)\n",
            "docs/here.md": "# Here\n",
            "Sources/File.swift": "// See docs/moved.md.\n",
        ])
        #expect(
            found == [
                "links: README.md:1: docs/gone.md: there is no docs/gone.md",
                "links: README.md:3: docs/here.md#gone: docs/here.md has no heading #gone",
                "links: README.md:5: #gone: README.md has no heading #gone",
                "links: Sources/File.swift:1: there is no docs/moved.md",
            ]
        )
    }
}
