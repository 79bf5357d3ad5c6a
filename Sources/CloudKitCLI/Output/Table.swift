/// Rows in aligned columns, for people.
package struct Table {
    /// The number of cells between two columns.
    private static let gap = 2
    /// The minimum width of a column, however narrow the terminal is.
    private static let narrowest = 6

    private let header: [String]
    private var rows: [[DisplayText]] = []

    /// Creates an empty table.
    package init(_ header: String...) {
        self.header = header
    }

    /// Creates an empty table.
    package init(header: [String]) {
        self.header = header
    }

    /// Adds a row, with one cell for each column.
    package mutating func add(_ cells: [String]) {
        rows.append(cells.map(DisplayText.init))
    }

    /// Returns the table as text, within the width of a terminal if there is one.
    package func text(columns: Int?) -> String { text(columns: columns, head: nil) }

    /// Returns the table as text, with a highlighted header.
    func text(columns: Int?, head: TerminalStyle?) -> String {
        let lines = [header.map { DisplayText($0.uppercased()) }] + rows
        let widths = widths(of: lines, columns: columns)
        return lines.enumerated().map { place, line in
            let cells = zip(line, widths).map { $0.padded(to: $1) }
            var text = cells.joined(separator: String(repeating: " ", count: Self.gap))
            while text.last == " " { text.removeLast() }
            return place == 0 ? head?.applied(to: text) ?? text : text
        }
        .joined(separator: "\n")
    }

    /// Returns the columns' widths; the widest shrink until the table fits.
    private func widths(of lines: [[DisplayText]], columns: Int?) -> [Int] {
        var widths = header.indices.map { column in
            lines.map { column < $0.count ? $0[column].width : 0 }.max() ?? 0
        }
        guard let columns else { return widths }
        let room = columns - Self.gap * max(0, widths.count - 1)
        widths = widths.map { min($0, max(room, Self.narrowest)) }
        while widths.reduce(0, +) > room, let widest = widths.max(), widest > Self.narrowest,
            let index = widths.firstIndex(of: widest)
        {
            widths[index] -= 1
        }
        return widths
    }
}
