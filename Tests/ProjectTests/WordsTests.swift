import Foundation
import Testing

@Suite("Scripts/words")
struct WordsTests {
    /// Checks one file.
    private func words(_ text: String) async throws -> Script {
        let folder = try TemporaryFolder()
        return try await Script.run("Scripts/words", folder.write(text, to: "File.swift"))
    }

    @Test("The repository's comments keep to the glossary")
    func repository() async throws {
        let run = try await Script.run("Scripts/words")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains(/words: \d{3,} files keep to the glossary/))
    }

    @Test(
        "A summary that begins with a replaced word is found, with its line and the remedy",
        arguments: [
            ("What a zone holds.", "a noun phrase"), ("Who made it.", "a noun phrase"),
            ("Whose it is.", "a noun phrase"), ("Where it is.", "a noun phrase"),
            ("When it ends.", "a noun phrase"), ("How it ends.", "a noun phrase"),
            ("Why it ends.", "a noun phrase"), ("Whether it ends.", "'Returns whether'"),
            ("Is told the end.", "'Receives'"), ("Makes a zone.", "'Creates'"),
            ("Tells the end.", "'Reports'"), ("Says the end.", "'Reports'"),
            ("Gives the end.", "'Returns'"), ("Asks the server.", "'Requests'"),
            ("Answers a request.", "'Returns'"), ("The answer to a request.", "'The response'"),
        ]
    )
    func summaries(summary: String, remedy: String) async throws {
        let run = try await words(
            "import CloudKit\n\nenum Zone {\n    /// \(summary)\n    case a\n}\n"
        )
        #expect(run.status == 1)
        #expect(run.output.contains("File.swift:4: a summary begins with '"), "\(run.output)")
        #expect(run.output.contains(remedy), "\(run.output)")
        #expect(run.output.contains("words: 1 found"))
    }

    @Test(
        "A replaced term is found in every kind of comment, also across lines",
        arguments: [
            ("/// A request.\n///\n/// It is under way.\n", 3), ("// A save under\n// way.\n", 1),
            ("// It is set aside.\n", 1), ("// It sets aside the change.\n", 1),
            ("// The planted defect.\n", 1), ("// The store is told.\n", 1),
            ("// It tells of the change.\n", 1), ("// The store hears of it.\n", 1),
            ("// What became of a save.\n", 1), ("// It is lost without a word.\n", 1),
            ("let a = \"b\" // It begins anew.\n", 1), ("// Thus it ends.\n", 1),
            ("// It stays for ever.\n", 1), ("/* */\n// A wish.\n", 2),
        ]
    )
    func terms(text: String, line: Int) async throws {
        let run = try await words(text)
        #expect(run.status == 1)
        #expect(run.output.contains("File.swift:\(line): a comment has '"), "\(run.output)")
        #expect(run.output.contains("; write '"), "\(run.output)")
        #expect(run.output.contains("words: 1 found"))
    }

    @Test(
        "Code, strings, quotations and other words are not",
        arguments: [
            "/// A zone.\n///\n/// What it holds is not the summary.\n",
            "/// A zone.\n/// Whose second line is not the summary either.\n",
            "/// Makeshift, whatever asked, whenever it answered.\n",
            "/// Returns whether it makes sense.\n", "// What the next line does is no summary.\n",
            "let wish = anew(\"// under way // for ever\")\n",
            "// The function `anew` and the word \"thus\".\n",
            "// They are told apart by their names.\n", "// The underwayside is canewed.\n",
            "/// A zone.\n///\n/// ```swift\n/// anew(wish) // set aside\n/// ```\n",
            "let text = \"\"\"\n    /// What it holds, thus.\n    \"\"\"\n// A zone.\n",
        ]
    )
    func innocent(text: String) async throws {
        let run = try await words(text)
        #expect(run.status == 0, "\(run.output)")
    }

    @Test("Its rules can be listed, and other options are refused")
    func list() async throws {
        let listed = try await Script.run("Scripts/words", "--list")
        #expect(listed.status == 0)
        for rule in ["  makes?: write 'Creates'", "  under way: write 'in flight'"] {
            #expect(listed.output.contains(rule))
        }
        let refused = try await Script.run("Scripts/words", "--fix")
        #expect(refused.status == 2)
        #expect(refused.output.hasPrefix("usage: Scripts/words"))
    }

    @Test("Scripts/lint fails with it")
    func lint() async throws {
        let folder = try TemporaryFolder()
        let rules = Repository.root.appending(path: ".swift-format")
        try folder.write(String(contentsOf: rules, encoding: .utf8), to: ".swift-format")
        let file = try folder.write("/// What it holds.\nstruct Zone {}\n", to: "File.swift")
        let run = try await Script.run("Scripts/lint", file)
        #expect(run.status == 1)
        #expect(run.output.contains("a summary begins with 'What'"))
    }
}
