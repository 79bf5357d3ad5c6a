#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataTable {
    /// `true` when the rows are records, whose last value is their checksum.
    private var hasRecords: Bool { (original ?? name) == "record" }

    /// Returns the checksum that a row should have; nil for a table without checksums.
    ///
    /// - Parameter row: The values, in the order of the columns.
    /// - Returns: The checksum of the other values.
    package func checksum(of row: [DataValue]) -> Int64? {
        hasRecords ? record(row).checksum : nil
    }

    /// Returns the name of a row's record if the row does not match its checksum.
    func nameOfDamaged(_ row: [DataValue]) -> String? {
        guard hasRecords else { return nil }
        let record = record(row)
        return row.last == .integer(record.checksum) ? nil : record.name
    }

    private func record(_ row: [DataValue]) -> StoredRecord {
        var values = row.dropFirst(original == nil ? 0 : 1).makeIterator()
        func next() -> DataValue { values.next() ?? .null }
        func integer() -> Int64 { if case .integer(let number) = next() { number } else { 0 } }
        func bytes() -> Data? { if case .bytes(let bytes) = next() { bytes } else { nil } }
        func text() -> String? { bytes().map { String(decoding: $0, as: UTF8.self) } }
        // In the order of the columns, of which the first is the database.
        _ = next()
        let (zone, sequence, id) = (integer(), integer(), integer())
        let (name, type) = (text() ?? "", text() ?? "")
        return StoredRecord(
            id: RowID(rawValue: id),
            zone: RowID(rawValue: zone),
            name: name,
            type: type,
            sequence: sequence,
            created: StoredRecord.Stamp(milliseconds: integer(), user: text() ?? ""),
            modified: StoredRecord.Stamp(milliseconds: integer(), user: text() ?? ""),
            isDeleted: integer() == 1,
            parent: text(),
            share: text(),
            hasAssets: integer() == 1,
            fields: bytes() ?? Data(),
            extra: bytes()
        )
    }
}
