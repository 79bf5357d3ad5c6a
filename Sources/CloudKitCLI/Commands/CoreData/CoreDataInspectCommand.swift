import ArgumentParser
import CloudKitCoreData

/// A command that prints a summary of a store.
struct CoreDataInspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Print a store's entities and rows, what is converted, and its state in CloudKit."
    )

    /// A store in the output of `--json`.
    private struct Entry: Encodable {
        struct Entity: Encodable {
            let name, table: String
            let rows: Int
        }

        struct Zone: Encodable {
            let name, owner: String
            let scope: String?
        }

        struct Mirror: Encodable {
            let zones: [Zone]
            let rowsWithRecord, rowsToSend, rowsToDelete, recordsToDelete, recordsWithoutRow: Int
            let missingRecords, entitiesOfRecordsWithoutRow: [String: Int]
        }

        let identifier: String?
        let versions: [String]
        let entities: [Entity]
        let linkTables, notes: [String]
        let cloudKit: Mirror?
    }

    @OptionGroup
    var options: StoreOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        let store = try options.store()
        let tables = store.tables
        guard output.json else { return try write(store, tables) }
        try output.write(
            Entry(
                identifier: store.identifier,
                versions: store.model.versionIdentifiers,
                entities: store.entities.map {
                    Entry.Entity(name: $0.name, table: Self.table($0, store, tables), rows: $0.rows)
                },
                linkTables: tables.joins.map(\.name),
                notes: store.notes + tables.notes,
                cloudKit: store.mirror.map(Self.mirror)
            )
        )
    }

    private static func table(
        _ count: CoreDataStore.EntityCount,
        _ store: CoreDataStore,
        _ tables: CoreDataTables
    ) -> String {
        store.model.entity(named: count.name)
            .flatMap { tables.table(ofRoot: store.model.root(of: $0).name)?.name } ?? ""
    }

    private static func mirror(_ mirror: CoreDataMirror) -> Entry.Mirror {
        Entry.Mirror(
            zones: mirror.zones.map {
                Entry.Zone(name: $0.name, owner: $0.owner, scope: $0.scope?.rawValue)
            },
            rowsWithRecord: mirror.rowsWithRecord,
            rowsToSend: mirror.rowsToSend,
            rowsToDelete: mirror.rowsToDelete,
            recordsToDelete: mirror.recordsToDelete,
            recordsWithoutRow: mirror.recordsWithoutRow,
            missingRecords: mirror.missingRecords,
            entitiesOfRecordsWithoutRow: mirror.entitiesOfRecordsWithoutRow
        )
    }

    // MARK: For people

    private func write(_ store: CoreDataStore, _ tables: CoreDataTables) throws {
        var table = Table("entity", "rows", "becomes")
        for entity in store.entities {
            table.add([entity.name, String(entity.rows), Self.table(entity, store, tables)])
        }
        try Console.write(table)
        for join in tables.joins {
            try Console.write(
                DisplayText("links: \(join.owner).\(join.relationship) becomes \(join.name)").text
            )
        }
        for line in cloudKitLines(store.mirror) + store.notes + tables.notes {
            try Console.write(DisplayText(line).text)
        }
    }

    private func cloudKitLines(_ mirror: CoreDataMirror?) -> [String] {
        guard let mirror else { return ["CloudKit: never mirrored"] }
        var lines = mirror.zones.map {
            "CloudKit zone: \($0.name), owner \($0.owner)"
                + ($0.scope.map { ", \($0.rawValue)" } ?? "")
        }
        lines.append("CloudKit: \(Amount.text(mirror.rowsWithRecord, "row")) with a record")
        let counts = [
            (mirror.rowsToSend, "newer than the record"),
            (mirror.rowsToDelete, "deleted in CloudKit, and still here"),
        ]
        for (count, text) in counts where count > 0 {
            lines.append("CloudKit: \(Amount.text(count, "row")) \(text)")
        }
        if mirror.recordsToDelete > 0 {
            let count = Amount.text(mirror.recordsToDelete, "record")
            lines.append("CloudKit: \(count) of deleted rows, still to be deleted there")
        }
        for (name, count) in mirror.entitiesOfRecordsWithoutRow.sorted(by: { $0.key < $1.key }) {
            lines.append(
                "CloudKit: \(Amount.text(count, "record")) of \(name) without a row, which a database's first sync "
                    + "brings back, unless it is converted with --delete-without-row"
            )
        }
        for (name, count) in mirror.missingRecords.sorted(by: { $0.key < $1.key }) {
            lines.append(
                "CloudKit: \(Amount.text(count, "row or link", "rows or links")) of \(name) "
                    + "without a record"
            )
        }
        return lines
    }
}
