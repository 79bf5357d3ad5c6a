import CloudKitWebClient

/// Records as tables for people.
enum RecordTable {
    /// Returns a table with a row for each record, and a column for each field that any of them has.
    static func list(_ records: [WireRecord]) -> Table {
        let keys = Set(records.flatMap(\.fields.keys)).sorted()
        let namesType = Set(records.map(\.recordType)).count > 1
        var table = Table(
            header: ["record"] + (namesType ? ["type"] : []) + ["modified"] + keys
        )
        for record in records {
            var cells = [record.recordName ?? ""]
            if namesType { cells.append(record.recordType ?? "") }
            cells.append(
                record.deleted == true
                    ? "deleted" : record.modified.map { ValueText.date($0.timestamp) } ?? ""
            )
            cells += keys.map { record.fields[$0]?.value.map(ValueText.text) ?? "" }
            table.add(cells)
        }
        return table
    }

    /// Returns a table with a row for each field of each record.
    static func details(_ records: [WireRecord]) -> Table {
        var table = Table("record", "field", "type", "value")
        for record in records {
            let name = record.recordName ?? ""
            let parts: [(String, String?)] = [
                ("recordType", record.recordType), ("recordChangeTag", record.recordChangeTag),
                ("created", record.created.map { ValueText.date($0.timestamp) }),
                ("modified", record.modified.map { ValueText.date($0.timestamp) }),
                ("parent", record.parent.map { "-> \($0.recordName)" }),
            ]
            for case (let key, let text?) in parts { table.add([name, key, "", text]) }
            for (key, field) in record.fields.sorted(by: { $0.key < $1.key }) {
                let tag = (field.value?.type ?? field.statedType)?.tag ?? ""
                table.add([
                    name, key, field.isEncrypted ? "ENCRYPTED_\(tag)" : tag,
                    field.value.map(ValueText.text) ?? "",
                ])
            }
        }
        return table
    }
}
