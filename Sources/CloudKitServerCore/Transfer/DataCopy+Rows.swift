import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The rows, table by table, in pages that are added with the place at which the next one begins.
extension DataCopy {
    /// About how many bytes a page has at most.
    private static let pageBytes = 4 << 20

    /// Copies and compares the rows.
    func rows(_ cancelled: Flag) throws -> (Report, CopyState) {
        try source.read { reader in
            var state = try beginning(reader)
            var report = Report()
            let counts = try DataTable.all.map { try reader.rowCount(of: $0) }
            report.rows = counts.reduce(0, +)
            var steps = Steps(total: 2 * report.rows, meter: meter)
            if !state.hasRows {
                let place = DataTable.all.firstIndex { $0.name == state.table } ?? 0
                steps.add(counts[..<place].reduce(0, +))
                for table in DataTable.all[place...] {
                    try copy(table, reader, &state, &report, &steps, unless: cancelled)
                }
                let counters = try reader.counters()
                try advance(&state) {
                    $0.hasRows = true
                } adding: {
                    try $0.finishRows(counters)
                }
            }
            steps.advance(to: report.rows)
            try target.read { copied in
                for table in DataTable.all {
                    try compare(table, reader, copied, &report, &steps, unless: cancelled)
                }
                let (wanted, found) = (try reader.counters(), try copied.counters())
                if found.row < wanted.row || found.push < wanted.push {
                    report.add("The target would give numbers of earlier rows to new ones")
                }
            }
            return (report, state)
        }
    }

    /// Returns the state from which the copy goes on.
    ///
    /// - Throws: `StorageError` when the target has other data.
    private func beginning(_ reader: any DataReader) throws -> CopyState {
        if try reader.copyState() != nil { throw CopyState.refusal(of: source.name) }
        let checksum = try Self.checksum(reader)
        let found: CopyState? = try target.read { copied in
            if let data = try copied.copyState() { return try CopyState(data, of: target.name) }
            for table in DataTable.all where try copied.rows(of: table, after: nil).next() != nil {
                throw StorageError(
                    .other,
                    "\(target.name) is not empty: it has rows in the table \(table.name); choose an empty "
                        + "target"
                )
            }
            return nil
        }
        guard let found else {
            let state = CopyState(source: checksum)
            let data = try state.encoded
            try target.write { try $0.replaceCopyState(nil, with: data) }
            return state
        }
        guard found.source == checksum else {
            throw StorageError(
                .other,
                "\(target.name) has an unfinished copy of other data, or \(source.name) was changed since "
                    + "that copy began; start over with an empty target"
            )
        }
        return found
    }

    /// Returns a checksum that tells a state of a server's data from others: every change of a record
    /// changes the row of its database.
    private static func checksum(_ reader: any DataReader) throws -> Data {
        var hash = SHA256()
        for table in DataTable.all
        where ["setting", "environment", "database"].contains(table.name) {
            let rows = try reader.rows(of: table, after: nil)
            while let row = try rows.next() {
                for value in row {
                    switch value {
                    case .null: hash.update(data: [0])
                    case .integer(let number):
                        withUnsafeBytes(of: number.littleEndian) { hash.update(bufferPointer: $0) }
                    case .bytes(let bytes):
                        withUnsafeBytes(of: bytes.count.littleEndian) {
                            hash.update(bufferPointer: $0)
                        }
                        hash.update(data: bytes)
                    }
                }
            }
        }
        return Data(hash.finalize())
    }

    private func copy(
        _ table: DataTable,
        _ reader: any DataReader,
        _ state: inout CopyState,
        _ report: inout Report,
        _ steps: inout Steps,
        unless cancelled: Flag
    ) throws {
        let key = table.name == state.table ? state.key : nil
        let rows = try reader.rows(of: table, after: key)
        while true {
            try cancelled.check()
            var page: [[DataValue]] = []
            var bytes = 0
            while page.count < pageRows, bytes < Self.pageBytes,
                let row = try Self.next(rows, table)
            {
                bytes += row.reduce(0) { $0 + $1.size }
                page.append(row)
            }
            guard let last = page.last else { return }
            try advance(&state) {
                $0.table = table.name
                $0.key = table.key(of: last)
            } adding: {
                try $0.add(page, to: table)
            }
            report.addedRows += page.count
            steps.add(page.count)
        }
    }

    /// Returns the next row of the source, with the checksum that a record of an earlier version lacks.
    private static func next(_ rows: any DataCursor, _ table: DataTable) throws -> [DataValue]? {
        guard var row = try rows.next() else { return nil }
        if row.last == .null, let checksum = table.checksum(of: row) {
            row[row.count - 1] = .integer(checksum)
        }
        return row
    }

    /// Changes the target and the state that it keeps together.
    func advance(
        _ state: inout CopyState,
        _ change: (inout CopyState) -> Void,
        adding add: (any DataWriter) throws -> Void = { _ in }
    ) throws {
        let old = try state.encoded
        var next = state
        change(&next)
        next.version = UUID()
        let new = try next.encoded
        try target.write { writer in
            try add(writer)
            try writer.replaceCopyState(old, with: new)
        }
        state = next
    }

    /// Counts steps for a meter.
    struct Steps {
        private(set) var done = 0
        let total: Int
        let meter: Meter

        init(total: Int, meter: @escaping Meter) {
            self.total = total
            self.meter = meter
        }

        mutating func add(_ count: Int) {
            done += count
            meter(done, total)
        }

        mutating func advance(to count: Int) { add(count - done) }
    }

    // MARK: Comparison

    private func compare(
        _ table: DataTable,
        _ reader: any DataReader,
        _ copied: any DataReader,
        _ report: inout Report,
        _ steps: inout Steps,
        unless cancelled: Flag
    ) throws {
        let rows = (try reader.rows(of: table, after: nil), try copied.rows(of: table, after: nil))
        var (wanted, found) = (try Self.next(rows.0, table), try rows.1.next())
        var count = 0
        while wanted != nil || found != nil {
            let isLater = Self.isLater(wanted, found, table)
            if let row = isLater == .second || isLater == nil ? wanted : nil {
                if isLater == .second {
                    report.add("\(Self.name(row, table)): it is missing in \(target.name)")
                } else if let other = found, row != other {
                    report.add(difference(row, other, table))
                }
                if let name = table.nameOfDamaged(row) { report.damagedRecords.add(name) }
                wanted = try Self.next(rows.0, table)
                count += 1
            } else if let row = found {
                report.add("\(Self.name(row, table)): only \(target.name) has it")
            }
            if isLater != .second { found = try rows.1.next() }
            if count == pageRows {
                try cancelled.check()
                steps.add(count)
                count = 0
            }
        }
        steps.add(count)
    }

    private enum Side {
        case first, second
    }

    /// Returns the row that comes later; nil for two of the same place.
    private static func isLater(
        _ first: [DataValue]?,
        _ second: [DataValue]?,
        _ table: DataTable
    ) -> Side? {
        guard let first else { return second == nil ? nil : .first }
        guard let second else { return .second }
        for place in table.order where first[place] != second[place] {
            return first[place] < second[place] ? .second : .first
        }
        return nil
    }

    private static func name(_ row: [DataValue], _ table: DataTable) -> String {
        let parts = table.order.map { place in
            let column = table.columns[place]
            return "\(column.name) \(row[place].text(column.kind))"
        }
        return "Table \(table.name), row with \(parts.joined(separator: ", "))"
    }

    private func difference(
        _ row: [DataValue],
        _ other: [DataValue],
        _ table: DataTable
    ) -> String {
        let columns = table.columns.indices.filter { row[$0] != other[$0] }
            .map { table.columns[$0].name }
        return
            "\(Self.name(row, table)): \(target.name) has another \(columns.joined(separator: ", "))"
    }
}
