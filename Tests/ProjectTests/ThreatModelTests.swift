import Foundation
import Testing

@Suite("The threat model")
struct ThreatModelTests {
    @Test("Every row names mutants that remove its defence")
    func repository() throws {
        let path = Repository.root.appending(path: "docs/operating/threat-model.md")
        let document = try String(contentsOf: path, encoding: .utf8)
        let mutants = try Repository.paths(under: "Tests/Mutants").compactMap { path in
            path.split(separator: "/").last?.split(separator: ".").first.map(String.init)
        }
        #expect(Self.problems(in: document, Set(mutants)) == [])
    }

    @Test("A row without a defect, or with one that is not there, is found")
    func planted() {
        func problems(_ cell: String) -> [String] {
            let table = """
                | threat | defence | taken out by | shown by |
                |---|---|---|---|
                | somebody does it | it is refused | \(cell) | Suite: all tests |
                """
            return Self.problems(in: table, ["does-it"])
        }
        #expect(problems("`does-it`") == [])
        #expect(problems("") == ["somebody does it: no planted defect"])
        #expect(problems("some day") == ["somebody does it: no planted defect"])
        #expect(problems("`does-it`, `gone`") == ["somebody does it: there is no defect gone"])
        #expect(Self.problems(in: "No table.", ["does-it"]) == ["no table of threats"])
    }

    /// Returns the problems in the tables whose third column is headed "taken out by", where each
    /// cell has names of patches in backticks.
    private static func problems(in document: String, _ mutants: Set<String>) -> [String] {
        var problems: [String] = []
        var isInside = false
        var hasTable = false
        for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("|"), cells.count > 3 else {
                isInside = false
                continue
            }
            if cells[2] == "taken out by" {
                (isInside, hasTable) = (true, true)
            } else if isInside, !cells[0].allSatisfy({ $0 == "-" }) {
                let names = cells[2].matches(of: /`([^`]+)`/).map { String($0.1) }
                if names.isEmpty { problems.append("\(cells[0]): no planted defect") }
                problems += names.filter { !mutants.contains($0) }
                    .map { "\(cells[0]): there is no defect \($0)" }
            }
        }
        return hasTable ? problems : ["no table of threats"]
    }
}
