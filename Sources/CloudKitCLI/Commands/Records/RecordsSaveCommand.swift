import ArgumentParser
import CloudKitWebClient
import Foundation

/// A command that saves one record, or the records of a file.
struct RecordsSaveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Create or change records.",
        discussion: """
            Sets the given fields and keeps the others. A field is KEY=VALUE, or KEY:TYPE=VALUE, as \
            in due:TIMESTAMP=2026-01-31T12:00:00Z; lists are JSON arrays: tags='["a","b"]'. With \
            --file, each line is a record in the format of --json.
            """
    )

    @Option(help: "The record type.")
    var type: String?

    @Option(help: "The record's name; the service creates one when it is omitted.")
    var name: String?

    @Option(name: .customLong("field"), help: "A field, KEY=VALUE; may be given several times.")
    var fields: [String] = []

    @Option(name: .customLong("asset"), help: "A file for a field, KEY=FILE; repeatable.")
    var assets: [String] = []

    @Option(name: .customLong("clear"), help: "A field to clear; may be given several times.")
    var cleared: [String] = []

    @Option(help: "Save only if the record's change tag is still this one.")
    var tag: String?

    @Flag(help: "Save only if there is no such record.")
    var new = false

    @Flag(help: "Clear the fields that are not given; this replaces a damaged record too.")
    var replace = false

    @Option(help: "A file of records, or - for standard input.")
    var file: String?

    @OptionGroup(title: "Place")
    var place: ZoneOptions

    @OptionGroup
    var output: OutputOptions

    func validate() throws {
        let isAlone =
            type == nil && name == nil && fields.isEmpty && assets.isEmpty && cleared.isEmpty
            && tag == nil
        guard file == nil || isAlone else {
            throw ValidationError("--file excludes the options of a single record")
        }
        guard file != nil || type != nil else {
            throw ValidationError("Give --type, or --file for records of a file")
        }
        guard !new || tag == nil else {
            throw ValidationError("--new and --tag exclude each other: a new record has no tag")
        }
        guard !new || !replace else {
            throw ValidationError("--new and --replace exclude each other")
        }
    }

    func run() async throws {
        let client = try place.connection.client()
        let database = place.scope(client)
        var records = try file.map(read) ?? [try single()]
        if !assets.isEmpty {
            let upload = AssetUpload(client: client, database: database, zoneID: place.zoneID)
            for asset in assets { try await attach(asset, to: &records[0], upload) }
        }
        let operations = records.map { RecordOperation(operationType(of: $0), $0) }
        try await RecordChanges(client: client, database: database, zoneID: place.zoneID)
            .send(operations, output, RecordTable.details)
    }

    private func operationType(of record: WireRecord) -> RecordOperation.OperationType {
        if new { return .create }
        if replace { return tag == nil ? .forceReplace : .replace }
        return tag == nil ? .forceUpdate : .update
    }

    /// Returns the record that the options describe.
    private func single() throws -> WireRecord {
        var record = WireRecord(recordName: name, recordType: type, recordChangeTag: tag)
        for text in fields {
            let expression = try FieldExpression(text)
            record.fields[expression.key] = expression.field
        }
        for key in cleared { record.fields[key] = WireField(nil) }
        return record
    }

    private func attach(
        _ text: String,
        to record: inout WireRecord,
        _ upload: AssetUpload
    ) async throws {
        guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
            throw CommandFailure(unusable: "'\(text)' is not an asset: KEY=FILE")
        }
        let key = String(text[..<sign])
        let path = String(text[text.index(after: sign)...])
        let (name, asset) = try await upload(
            URL(fileURLWithPath: path),
            recordName: record.recordName,
            recordType: record.recordType ?? "",
            field: key
        )
        record.recordName = name
        record.fields[key] = WireField(.asset(asset))
    }

    /// Returns the records of a file, without the metadata that responses add to their fields.
    private func read(_ path: String) throws -> [WireRecord] {
        var lines = try LineReader(path: path)
        var records: [WireRecord] = []
        while let line = try lines.next() {
            guard !line.isBlank else { continue }
            do {
                let record = try WireJSON.decode(WireRecord.self, from: line.data)
                guard record.recordType != nil else {
                    throw CommandFailure(
                        unusable: "\(path):\(line.number): the record has no recordType"
                    )
                }
                var saved = WireRecord(
                    recordName: record.recordName,
                    recordType: record.recordType,
                    fields: record.fields
                )
                saved.parent = record.parent
                records.append(saved)
            } catch let error as DecodingError {
                throw CommandFailure(
                    unusable: "\(path):\(line.number): \(WireJSON.place(of: error))"
                )
            }
        }
        return records
    }
}
