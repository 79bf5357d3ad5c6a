import Foundation
import Testing

@Suite("docs/reference/configuration.md")
struct ConfigurationDocumentTests {
    /// A row of the page, by what stands in backticks.
    private struct Row: Equatable {
        var option: String
        var variable: String
        var key: String
        /// Empty where the setting has none.
        var value: String
    }

    /// The rows whose first cell is an option and whose second one a variable.
    private func rowsOfPage() throws -> [Row] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/reference/configuration.md"),
            encoding: .utf8
        )
        let row = /\| `(--[a-z-]+)` \| `([A-Z_]+)` \| `([a-z-]+)` \| (?:`([^`]*)`|–) \| .+ \|/
        return page.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: row).map { match in
                Row(
                    option: String(match.output.1),
                    variable: String(match.output.2),
                    key: String(match.output.3),
                    value: String(match.output.4 ?? "")
                )
            }
        }
    }

    /// The rows that the page has to have: what `--print-config` says of a server of which nobody says
    /// anything.
    private func printedSettings() async throws -> [Row] {
        let outcome = try await CommandProcess.run(["serve", "--print-config"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: " ").map(String.init)
            let name = cells[0]
            #expect(cells.last == "default", "\(line)")
            return Row(
                option: "--\(name)",
                variable: "CLOUDKIT_SERVE_"
                    + name.uppercased().replacing("-", with: "_"),
                key: name,
                value: cells.count > 2 ? cells[1] : ""
            )
        }
    }

    @Test("It has each setting with its variable, its key and its default, and no other")
    func everySetting() async throws {
        let rows = try rowsOfPage()
        let settings = try await printedSettings()
        #expect(settings.count > 30)
        for setting in settings {
            let row = rows.first { $0.key == setting.key }
            #expect(row == setting, "the page lacks the row of \(setting.option), or it differs")
        }
        let known = settings.map(\.key)
        #expect(rows.map(\.key).filter { !known.contains($0) } == [])
        #expect(Set(rows.map(\.key)).count == rows.count, "a setting stands there twice")
    }
}
