public import CloudKitServerCore
import CloudKitWire
import Foundation

/// Rows that share a world, read from a file of `Tests/Conformance`.
public struct ConformanceArea: Sendable, CustomStringConvertible {
    public let title: String
    public let rows: [ConformanceRow]
    /// `true` when the rows leave the world unchanged and can share one.
    let isShared: Bool
    let schema: String?
    let environment: ServiceEnvironment
    public let configuration: ServiceConfiguration
    /// The steps before the rows.
    let given: [JSON]

    public var description: String { title }

    init(_ file: URL) throws {
        let area = try JSON(Data(contentsOf: file))
        title = area.area.text ?? file.lastPathComponent
        isShared = area.shared.isTrue
        let lines = area.schema.elements.compactMap(\.text)
        schema = lines.isEmpty ? nil : lines.joined(separator: "\n")
        environment = ServiceEnvironment(rawValue: area.environment.text ?? "") ?? .development
        configuration = Self.configuration(area.service)
        given = area.given.elements
        var rows: [ConformanceRow] = []
        for row in area.rows.elements {
            rows.append(try ConformanceRow(Self.expanded(row, area.forms), area: title))
        }
        for table in area.tables.elements {
            for cells in table.rows.elements {
                let row = try Self.row(cells.elements, of: table, file: title)
                rows.append(try ConformanceRow(Self.expanded(row, area.forms), area: title))
            }
        }
        self.rows = rows
    }

    /// Returns a row with the members of the form that it names, where it has none of its own.
    private static func expanded(_ row: JSON, _ forms: JSON) -> JSON {
        guard let name = row.form.text, case .object(let own) = row,
            case .object(let form) = forms[name]
        else { return row }
        var members = form.merging(own) { $1 }
        if case .object(let defaults) = form["with"], case .object(let values) = own["with"] {
            members["with"] = .object(defaults.merging(values) { $1 })
        }
        return .object(members)
    }

    /// Returns a row of a table: cells of known columns are members of the row, others bind names.
    private static func row(_ cells: [JSON], of table: JSON, file: String) throws -> JSON {
        let columns = table.columns.elements.compactMap(\.text)
        guard columns.count == cells.count, case .object(var row) = table else {
            throw ConformanceTable.Broken(
                place: file,
                reason: "\(cells.count) cells for \(columns.count) columns: \(cells)"
            )
        }
        row["rows"] = nil
        row["columns"] = nil
        var bound: [String: JSON] = [:]
        if case .object(let common) = table.with { bound = common }
        for (column, cell) in zip(columns, cells) {
            if Self.members.contains(column) {
                if cell != .null { row[column] = cell }
            } else {
                bound[column] = cell
            }
        }
        row["with"] = .object(bound)
        if let name = row["name"]?.text { row["name"] = .string(name.named(bound)) }
        return .object(row)
    }

    private static let members: Set<String> = [
        "name", "from", "status", "code", "reason", "response", "names", "set", "before", "as",
        "to",
        "body",
    ]

    private static func configuration(_ choices: JSON) -> ServiceConfiguration {
        var configuration = ServiceConfiguration()
        if let bytes = choices.assetBytes.integer { configuration.assetBytes = Int(bytes) }
        if let bytes = choices.requestBodyBytes.integer {
            configuration.requestBodyBytes = Int(bytes)
        }
        if choices.growsSchema == false { configuration.growsSchema = false }
        if choices.readsTypesBySchema == true { configuration.readsTypesBySchema = true }
        if choices.indexesSystemFields == false { configuration.indexesSystemFields = false }
        if choices.rotatesWebTokens == true { configuration.rotatesWebTokens = true }
        return configuration
    }
}

extension String {
    /// Returns the text with each bound value replaced by its `{name}`, for readers.
    fileprivate func named(_ values: [String: JSON]) -> String {
        values.reduce(self) { text, value in
            text.replacing("{\(value.key)}", with: value.value.short)
        }
    }
}

extension JSON {
    /// The value as a table shows it.
    fileprivate var short: String {
        switch self {
        case .null: "nothing"
        case .bool(let value): String(value)
        case .int(let value): String(value)
        case .double(let value): String(value)
        case .string(let value): value
        case .array(let elements): "[" + elements.map(\.short).joined(separator: ", ") + "]"
        case .object(let members):
            members.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.short)" }
                .joined(separator: ", ")
        }
    }
}
