#if PostgreSQL
import Foundation

/// A statement that a server ran, with the way in which it did.
struct StatementPlan {
    /// A node of a plan, as PostgreSQL writes it in JSON.
    struct Node: Decodable {
        var type: String
        var table: String?
        var index: String?
        var condition: String?
        var filter: String?
        var rows: Double?
        var removedRows: Double?
        var loops: Double?
        var children: [Node]?

        enum CodingKeys: String, CodingKey {
            case type = "Node Type"
            case table = "Relation Name"
            case index = "Index Name"
            case condition = "Index Cond"
            case filter = "Filter"
            case rows = "Actual Rows"
            case removedRows = "Rows Removed by Filter"
            case loops = "Actual Loops"
            case children = "Plans"
        }

        /// The number of rows that the node has read of its table.
        var readRows: Double {
            table == nil ? 0 : ((rows ?? 0) + (removedRows ?? 0)) * (loops ?? 0)
        }

        /// The node and those below it.
        var all: [Node] { [self] + (children ?? []).flatMap(\.all) }
    }

    private struct Entry: Decodable {
        var text: String
        var plan: Node

        enum CodingKeys: String, CodingKey {
            case text = "Query Text"
            case plan = "Plan"
        }
    }

    /// The settings with which a server writes the plans of all statements to its log.
    static let settings = [
        "shared_preload_libraries=auto_explain", "auto_explain.log_min_duration=0",
        "auto_explain.log_format=json", "auto_explain.log_analyze=on",
        "auto_explain.log_timing=off", "auto_explain.log_nested_statements=on",
        "log_min_messages=log",
    ]

    /// The text in one line.
    var text: String
    var nodes: [Node]

    /// Reads the plans of a server's log from a place on.
    static func all(in log: Data) throws -> [StatementPlan] {
        var plans: [StatementPlan] = []
        var lines: [Substring] = []
        func end() throws {
            defer { lines = [] }
            guard !lines.isEmpty else { return }
            let entry = try JSONDecoder().decode(
                Entry.self,
                from: Data(lines.joined(separator: "\n").utf8)
            )
            let text = entry.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            plans.append(StatementPlan(text: text, nodes: entry.plan.all))
        }
        var isPlan = false
        for line in String(decoding: log, as: UTF8.self).split(separator: "\n") {
            if isPlan, line.first == "\t" {
                lines.append(line.dropFirst())
            } else {
                try end()
                isPlan = line.hasSuffix(" plan:")
            }
        }
        try end()
        return plans
    }

    /// Returns what is wrong with the plan of a frequent statement.
    ///
    /// - Parameters:
    ///   - columns: The columns of each index.
    ///   - limit: The number of rows that no page has.
    /// - Returns: A description of each problem.
    func problems(_ columns: [String: [String]], limit: Int) -> [String] {
        spreadTables.sorted().map { "several partitions of \($0)" } + fullReads(columns)
            + nodes.filter { $0.readRows >= Double(limit) }
            .map { "\(Int($0.readRows)) rows of \($0.table ?? "?")" }
    }

    /// The tables of which the statement reads more than one partition.
    ///
    /// Partitions that the server has left out, knowing the values, are not in a plan, or were not run.
    private var spreadTables: Set<String> {
        var parts: [String: Set<String>] = [:]
        for node in nodes where node.loops ?? 0 > 0 {
            guard let table = node.table, let part = table.wholeMatch(of: /(.+)_[0-9]+/) else {
                continue
            }
            parts[String(part.output.1), default: []].insert(table)
        }
        return Set(parts.filter { $0.value.count > 1 }.keys)
    }

    /// The reads that go through all rows of a table, or of an index: those without an index condition,
    /// or whose condition does not begin with the index's first column.
    ///
    /// - Parameter columns: The columns of each index.
    private func fullReads(_ columns: [String: [String]]) -> [String] {
        nodes.compactMap { node in
            switch node.type {
            case "Seq Scan": return "\(node.table ?? "?"): all rows"
            case "Index Scan", "Index Only Scan", "Bitmap Index Scan":
                let index = columns[node.index ?? ""] ?? []
                // The columns that the condition names must be the index's first ones.
                let names = (node.condition ?? "").matches(of: /\b[a-z_]+\b/).map {
                    String($0.output)
                }
                let used = index.map { names.contains($0) }
                let isPrefix = used.first == true && !used.drop { $0 }.contains(true)
                return isPrefix
                    ? nil : "\(node.index ?? "?"): \(node.condition ?? "no condition")"
            default: return nil
            }
        }
    }
}
#endif
