import Foundation
import Testing

@Suite("docs/internals/unknown-facts.md")
struct UnknownFactTests {
    @Test("Each reading names files or folders of the sources that are there")
    func places() throws {
        let page = Repository.root.appending(path: "docs/internals/unknown-facts.md")
        var places: Set<String> = []
        for path in try Repository.paths(under: "Sources") {
            places.insert(String(path.dropFirst("Sources/".count)))
            if path.hasSuffix(".swift"), let name = path.split(separator: "/").last {
                places.insert(String(name.dropLast(".swift".count)))
            }
        }
        let rows = Self.rows(of: try String(contentsOf: page, encoding: .utf8))
        #expect(rows.count > 150)
        #expect(rows.flatMap { Self.problems(in: $0, places) } == [])
    }

    @Test("A place that is gone is found, and so is a reading without one")
    func planted() {
        let page = """
            | question | our reading | where |
            |---|---|---|
            | one | yes | `File`, `Target/Folder` |
            | two | no | the same |
            | three | no | `Gone` |
            | four | no | – |
            """
        let problems = Self.rows(of: page).flatMap {
            Self.problems(in: $0, ["File", "Target/Folder"])
        }
        #expect(problems == ["three: there is no Gone", "four: no place"])
    }

    /// The cells of the rows, without the heads of the tables.
    private static func rows(of page: String) -> [[String]] {
        page.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| question |") }
            .map { line in
                line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
    }

    private static func problems(in row: [String], _ places: Set<String>) -> [String] {
        let cell = row.last ?? ""
        if cell == "the same" { return [] }
        let named = cell.matches(of: /`([^`]+)`/).map { String($0.output.1) }
        if named.isEmpty { return ["\(row[0]): no place"] }
        return named.filter { !places.contains($0) }.map { "\(row[0]): there is no \($0)" }
    }
}
