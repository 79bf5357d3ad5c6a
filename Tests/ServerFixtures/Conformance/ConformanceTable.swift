public import Foundation

/// The recorded requests and responses of the service, with the source of each.
public struct ConformanceTable: Sendable {
    /// An error of a file of the table that cannot be read.
    struct Broken: Error, CustomStringConvertible {
        var place: String
        var reason: String
        var description: String { "\(place): \(reason)" }
    }

    public let areas: [ConformanceArea]

    public var rows: [ConformanceRow] { areas.flatMap(\.rows) }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static let path = "docs/reference/conformance.md"

    /// The page that shows the table.
    public static let page = root.appendingPathComponent(path)
    private static let start = "<!-- conformance: start -->"
    private static let end = "<!-- conformance: end -->"

    /// Reads `Tests/Conformance`.
    public init() throws {
        let folder = Self.root.appendingPathComponent("Tests/Conformance")
        areas = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .filter { $0.hasSuffix(".json") }
            .map { try ConformanceArea(folder.appendingPathComponent($0)) }
    }

    /// Returns a page with its table replaced by this one.
    public func written(into text: String) throws -> String {
        guard let head = text.range(of: Self.start), let tail = text.range(of: Self.end) else {
            throw Broken(place: Self.path, reason: "it has no lines \(Self.start)")
        }
        return text[..<head.upperBound] + "\n\n" + markdown + "\n" + text[tail.lowerBound...]
    }

    private var markdown: String {
        let counts = ConformanceRow.Source.allCases.map { source in
            "\(rows.count { $0.source == source }) \(source.rawValue)"
        }
        var text = "\(rows.count) rows: \(counts.joined(separator: ", ")).\n"
        for area in areas {
            // Markdown is not read within a summary.
            let title = area.title.replacing(/`([^`]*)`/) { "<code>\($0.output.1)</code>" }
            text += "\n<details>\n<summary>\(title) (\(area.rows.count))</summary>\n\n"
            text += "| request | response | known |\n|---|---|---|\n"
            for row in area.rows {
                let place = row.place.isEmpty ? "" : ": \(row.place)"
                let name = row.name.replacing("|", with: "\\|").replacing("<", with: "&lt;")
                    .replacing("\n", with: "\\n").replacing("\t", with: "\\t")
                text += "| \(name) | \(row.shownResponse) | \(row.source.rawValue)\(place) |\n"
            }
            text += "\n</details>\n"
        }
        return text
    }
}

extension ConformanceRow {
    /// The status and the error codes.
    fileprivate var shownResponse: String {
        let status = String(step.status.integer ?? 200)
        let codes = codes.map { "`\($0)`" }.joined(separator: ", ")
        return codes.isEmpty ? status : "\(status) \(codes)"
    }
}
