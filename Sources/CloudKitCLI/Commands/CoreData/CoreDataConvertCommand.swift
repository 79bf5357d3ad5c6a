import ArgumentParser
import CloudKitCoreData
import Foundation

/// A command that converts a store to a database.
struct CoreDataConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert a store to a GRDB database, with the names of its records as keys.",
        discussion: """
            The file appears when it is complete. A mirrored store that knows no record of some rows \
            is refused, because these would be in CloudKit twice.
            """
    )

    /// A conversion in the output of `--json`.
    private struct Entry: Encodable {
        let rows, createdRecords, danglingLinks, filledValues, skippedValues: [String: Int]
        let recordsWithoutRow: [String: Int]
        let notes: [String]
    }

    @OptionGroup
    var options: StoreOptions

    @Option(help: "The file of the new database.")
    var to: String

    @Flag(help: "Give new names to rows and links without a known record.")
    var mintRecords = false

    @Flag(
        help: "Delete records that have no row, instead of bringing them back with the first sync."
    )
    var deleteWithoutRow = false

    @Flag(help: "Replace unreadable values by NULL, instead of stopping.")
    var skipUnreadable = false

    @OptionGroup
    var overwrite: OverwriteOptions

    @OptionGroup
    var output: OutputOptions

    func run() async throws {
        try overwrite.check(to)
        let store = try options.store()
        var conversion = CoreDataConversionOptions()
        conversion.createsMissingRecords = mintRecords
        conversion.deletesRecordsWithoutRow = deleteWithoutRow
        conversion.skipsUnreadableValues = skipUnreadable
        conversion.replacesFile = overwrite.force
        let report = try store.convert(to: URL(fileURLWithPath: to), options: conversion)
        try write(report)
    }

    private func write(_ report: CoreDataConversionReport) throws {
        guard !output.json else {
            return try output.write(
                Entry(
                    rows: report.rows,
                    createdRecords: report.createdRecords,
                    danglingLinks: report.danglingLinks,
                    filledValues: report.filledValues,
                    skippedValues: report.skippedValues,
                    recordsWithoutRow: report.recordsWithoutRow,
                    notes: report.notes
                )
            )
        }
        var table = Table("table", "rows")
        for (name, count) in report.rows.sorted(by: { $0.key < $1.key }) {
            table.add([name, String(count)])
        }
        try Console.write(table)
        let counts = [
            ("new names", report.createdRecords),
            ("links to missing rows", report.danglingLinks),
            ("missing values that became the default", report.filledValues),
            ("unreadable values", report.skippedValues),
            (
                deleteWithoutRow
                    ? "records without a row, which the first sync deletes"
                    : "records without a row, which the first sync brings back; to delete them, convert again with "
                        + "--delete-without-row",
                report.recordsWithoutRow
            ),
        ]
        for (text, places) in counts {
            for (place, count) in places.sorted(by: { $0.key < $1.key }) {
                Console.say("\(place): \(text): \(count)")
            }
        }
        for note in report.notes { Console.say(note) }
    }
}
