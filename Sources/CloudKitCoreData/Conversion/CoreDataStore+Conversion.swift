public import Foundation
import GRDB

extension CoreDataStore {
    /// Creates a GRDB database from the store.
    ///
    /// The tables are those of ``CoreDataTables``. The keys of rows are the names of their records,
    /// so that a CloudKit store which syncs the database continues with the existing records.
    ///
    /// - Parameters:
    ///   - url: The database's file, which appears once it is complete.
    ///   - options: The treatment of rows without a record, and of unreadable values.
    /// - Returns: The results of the conversion.
    /// - Throws: ``CoreDataStoreError``; then no file is written.
    @discardableResult
    public func convert(
        to url: URL,
        options: CoreDataConversionOptions = CoreDataConversionOptions()
    ) throws(CoreDataStoreError) -> CoreDataConversionReport {
        try checkRecords(options)
        let isThere = FileManager.default.fileExists(atPath: url.path)
        guard !isThere || options.replacesFile else {
            throw CoreDataStoreError(.unwritable, url.path, "there is a file already")
        }
        let part = url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
        defer {
            for suffix in ["", "-journal", "-wal", "-shm"] {
                // After a success there is nothing to remove.
                try? FileManager.default.removeItem(atPath: part.path + suffix)
            }
        }
        do {
            let report = try convert(into: part, options)
            let file = try FileHandle(forUpdating: part)
            try file.synchronize()
            try file.close()
            if isThere {
                // SQLite would apply the old file's log to the new file.
                for suffix in ["-wal", "-shm", "-journal"] {
                    let log = url.path + suffix
                    guard FileManager.default.fileExists(atPath: log) else { continue }
                    try FileManager.default.removeItem(atPath: log)
                }
                try FileManager.default.removeItem(at: url)
            }
            try FileManager.default.moveItem(at: part, to: url)
            return report
        } catch let error as CoreDataStoreError {
            throw error
        } catch {
            throw CoreDataStoreError(.unwritable, url.path, StoreCopy.message(error))
        }
    }

    /// Refuses to create new records if some may already be in CloudKit.
    private func checkRecords(
        _ options: CoreDataConversionOptions
    ) throws(CoreDataStoreError) {
        let missing = mirror?.missingRecords ?? [:]
        guard !missing.isEmpty, !options.createsMissingRecords else { return }
        let counts = missing.sorted { $0.key < $1.key }.prefix(20).map { "\($0.key) \($0.value)" }
        throw CoreDataStoreError(
            .missingRecords,
            url.lastPathComponent,
            "the store was mirrored to CloudKit and knows no record of some rows "
                + "(\(counts.joined(separator: ", "))); open it with the app until it has synced "
                + "and copy it again, or allow new records for them: createsMissingRecords, "
                + "--mint-records"
        ).adding(copy.missingLog)
    }

    private func convert(
        into file: URL,
        _ options: CoreDataConversionOptions
    ) throws -> CoreDataConversionReport {
        let tables = tables
        return try copy.database.writeWithoutTransaction { database in
            try database.execute(
                sql: "ATTACH DATABASE ? AS app",
                arguments: [file.path]
            )
            // The connection is closed soon, which detaches it as well.
            defer { try? database.execute(sql: "DETACH DATABASE app") }
            // Nobody reads the file before it is complete.
            try database.execute(
                sql: "PRAGMA app.journal_mode = MEMORY; PRAGMA app.synchronous = OFF"
            )
            var report = CoreDataConversionReport()
            report.notes = notes + tables.notes
            try database.inTransaction {
                var conversion = StoreConversion(self, database, tables, options, report)
                try conversion.run()
                report = conversion.report
                return .commit
            }
            return report
        }
    }
}
