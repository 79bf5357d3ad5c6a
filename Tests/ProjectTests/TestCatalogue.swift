import Foundation

/// The suites of the repository with the sentences of their tests.
struct TestCatalogue {
    private(set) var suites: [String: Set<String>] = [:]

    init(_ files: [SourceFile]) {
        // A name follows the parenthesis, on the same line or the next.
        let name = /@(Suite|Test)\(\s*"((?:[^"\\]|\\.)*)"/
        for file in files {
            var suite = file.path
            for match in file.text.matches(of: name) {
                let text = String(match.2).replacing(#"\""#, with: "\"")
                if match.1 == "Suite" {
                    suite = text
                } else {
                    suites[suite, default: []].insert(text)
                }
            }
        }
    }

    /// Returns the problems in a document's tables whose last column is headed "shown by": each cell
    /// names tests as `Suite: "sentence"`, `Suite: all tests` or `the same`, separated by semicolons,
    /// or is a dash.
    func problems(in document: String) -> [String] {
        var problems: [String] = []
        var namesTests = false
        var isFirst = true
        for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                namesTests = false
                continue
            }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard let last = cells.last else { continue }
            if last == "shown by" {
                (namesTests, isFirst) = (true, true)
            } else if namesTests, !last.allSatisfy({ $0 == "-" }) {
                for item in Self.items(of: last) {
                    guard let problem = problem(item, isFirst: isFirst) else { continue }
                    problems.append("\(cells.first ?? ""): \(problem)")
                }
                isFirst = false
            }
        }
        return problems
    }

    /// Returns the items of a cell, between its semicolons.
    private static func items(of cell: String) -> [String] {
        var items = [""]
        var isQuoted = false
        for character in cell {
            if character == "\"" { isQuoted.toggle() }
            if character == ";", !isQuoted {
                items.append("")
            } else {
                items[items.count - 1].append(character)
            }
        }
        return items.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private func problem(_ item: String, isFirst: Bool) -> String? {
        if item == "the same" { return isFirst ? "there is no row above" : nil }
        if item == "–" { return nil }
        guard let match = item.wholeMatch(of: /(.+?): (?:"(.*)"|all tests)/) else {
            return "\(item) names no test"
        }
        guard let sentences = suites[String(match.1)] else { return "no suite \(match.1)" }
        guard let sentence = match.2 else { return nil }
        return sentences.contains(String(sentence))
            ? nil : "the suite \(match.1) has no test \"\(sentence)\""
    }
}
