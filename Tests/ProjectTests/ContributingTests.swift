import Foundation
import Testing

@Suite("CONTRIBUTING.md")
struct ContributingTests {
    /// The cells of the rows below a heading, without the table's head.
    private func rows(below heading: String) throws -> [[String]] {
        let page = Repository.root.appending(path: "CONTRIBUTING.md")
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        let start = try #require(lines.firstIndex { $0 == heading }, "there is no \(heading)")
        let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
        return section.filter { $0.hasPrefix("|") }.dropFirst(2).map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test("Its table has each script once, and no other")
    func scripts() throws {
        let scripts = try Repository.paths(under: "Scripts").filter { path in
            FileManager.default.isExecutableFile(
                atPath: Repository.root.appending(path: path).path
            )
        }
        #expect(scripts.count > 20)
        let named = try rows(below: "## The scripts").map { $0[1].replacing("`", with: "") }
        #expect(named.sorted() == scripts.sorted())
    }

    @Test("Its tour has twenty questions, each with a file whose first lines are a comment")
    func tour() throws {
        let tour = try rows(below: "## A tour of the code")
        #expect(tour.count == 20)
        for row in tour {
            let link = try #require(row[2].firstMatch(of: /\]\(([^)]+)\)/), "\(row[0])")
            let file = Repository.root.appending(path: String(link.output.1))
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            // Below the imports, with their conditions.
            let first = try #require(
                lines.first { !$0.contains("import ") && !$0.hasPrefix("#") },
                "\(row[0])"
            )
            #expect(first.hasPrefix("//"), "\(row[0]) \(link.output.1) begins with \(first)")
        }
    }
}
