public import Foundation
import GRDB

extension CoreDataStore {
    /// Creates a GRDB database from the store.
    ///
    /// The tables are those of ``CoreDataTables``. The keys of rows are the names of their records,
    /// so that a CloudKit store which syncs the database continues with the existing records.
    ///
    /// - Parameters:
    ///   - url: The database's file, which appears once it is complete; no file of the store, and without a log
    ///     beside it.
    ///   - options: The treatment of rows without a record, and of unreadable values.
    /// - Returns: The results of the conversion.
    /// - Throws: ``CoreDataStoreError``; then no file is written.
    @discardableResult
    public func convert(
        to url: URL,
        options: CoreDataConversionOptions = CoreDataConversionOptions()
    ) throws(CoreDataStoreError) -> CoreDataConversionReport {
        let target = try ConversionTarget(url, of: self, replacesFile: options.replacesFile)
        try checkRecords(options)
        defer { target.removePart() }
        do {
            let report = try convert(into: target.part, options)
            let file = try FileHandle(forUpdating: target.part)
            try file.synchronize()
            try file.close()
            try target.install()
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
                + "and copy it again, or allow new records for them, in the command with "
                + "--mint-records"
        ).adding(copy.logNote)
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
