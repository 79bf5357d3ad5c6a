import CloudKitWebClient
import Foundation

/// The export of zones, records and files of databases to a file of lines and a folder.
struct DatabaseExport {
    let client: WebClient
    private var database = DatabaseScope.private
    /// The types to query if there is no change feed.
    let types: [String]
    let assets: AssetFolder
    let file: FileHandle
    private var summary = ArchiveLine.Summary()

    init(
        client: WebClient,
        types: [String],
        assets: AssetFolder,
        file: FileHandle
    ) {
        self.client = client
        self.types = types
        self.assets = assets
        self.file = file
    }

    /// Exports zones of databases, one database after another.
    ///
    /// - Parameters:
    ///   - parts: The databases with their zones.
    ///   - isAll: Whether the file covers a whole container; an import then requires no database.
    /// - Returns: The content of the file.
    /// - Throws: `CommandFailure` or `WebClientError`; then the file is incomplete.
    mutating func run(
        _ parts: [(database: DatabaseScope, zones: [WireZoneID])],
        isAll: Bool
    ) async throws -> ArchiveLine.Summary {
        let line = ProgressLine("exporting")
        let count = parts.reduce(0) { $0 + $1.zones.count }
        var done = 0
        for (database, zones) in parts {
            self.database = database
            let header = ArchiveLine.Header(
                version: ArchiveLine.Header.currentVersion,
                container: client.container,
                environment: client.environment,
                database: database,
                all: isAll ? true : nil
            )
            try write(ArchiveLine(export: header))
            for zone in zones {
                try await export(zone)
                done += 1
                line.update(Double(done) / Double(count))
            }
        }
        try write(ArchiveLine(end: summary))
        return summary
    }

    private mutating func export(_ zone: WireZoneID) async throws {
        summary.zones += 1
        try write(ArchiveLine(zone: stated(zone, owner: zone.ownerRecordName)))
        if zone.isDefault || database == .public {
            for type in types { try await exportQuery(type, zone) }
        } else {
            try await exportChanges(zone)
        }
    }

    private mutating func exportQuery(_ type: String, _ zone: WireZoneID) async throws {
        var request = QueryRecordsRequest(query: WireQuery(recordType: type), zoneID: zone)
        repeat {
            let page = try await client.queryRecords(request, in: database)
            try await write(page.records, zone)
            request.continuationMarker = page.continuationMarker
        } while request.continuationMarker != nil
    }

    /// Exports the change feed of a zone; a record that changes meanwhile appears a second time,
    /// and its last line counts.
    private mutating func exportChanges(_ zone: WireZoneID) async throws {
        var pages = ZoneFeedReader(
            client: client,
            database: database,
            zoneID: zone,
            syncToken: nil
        )
        var written: Set<String> = []
        while let page = try await pages.next() {
            // A tombstone matters only for a record in the file.
            let news = page.filter { item in
                // Errors are kept, and end the export when they are written.
                guard let record = try? item.get(), record.deleted == true else { return true }
                return record.recordName.map(written.contains) ?? false
            }
            try await write(news, zone)
            // As above.
            written.formUnion(news.compactMap { try? $0.get().recordName })
        }
    }

    private mutating func write(
        _ items: [ItemResult<WireRecord>],
        _ zone: WireZoneID
    ) async throws {
        for item in items {
            if let failure = item.failure {
                throw CommandFailure("The export is incomplete: \(OutputOptions.text(failure))")
            }
            // The error was thrown above.
            guard var record = try? item.get() else { continue }
            var files: [String: [String]] = [:]
            for key in record.fields.keys.sorted() {
                let found = record.assets(of: key)
                guard !found.isEmpty else { continue }
                files[key] = try await keep(found, of: key, record)
                summary.assets += found.count
                // The URL is valid only for a time, and only here.
                record.setAssets(
                    found.map { WireAsset(fileChecksum: $0.fileChecksum, size: $0.size) },
                    of: key
                )
            }
            summary.records += 1
            try write(
                ArchiveLine(
                    record: portable(record, owner: zone.ownerRecordName),
                    files: files.isEmpty ? nil : files
                )
            )
        }
    }

    /// Downloads the files of a field, and returns their names.
    private func keep(
        _ found: [WireAsset],
        of key: String,
        _ record: WireRecord
    ) async throws -> [String] {
        var names: [String] = []
        do {
            for asset in found { names.append(try await assets.keep(asset, with: client)) }
        } catch let error as WebClientError {
            throw CommandFailure("Record \(record.recordName ?? ""), field \(key): \(error)")
        }
        return names
    }

    /// Returns a record without references to the caller's account, so that another account can import it.
    private func portable(_ record: WireRecord, owner: String?) -> WireRecord {
        var record = record
        record.zoneID = record.zoneID.map { stated($0, owner: owner) }
        if let zone = record.parent?.zoneID { record.parent?.zoneID = stated(zone, owner: owner) }
        for (key, field) in record.fields {
            record.fields[key]?.value = field.value.map { portable($0, owner: owner) }
        }
        return record
    }

    private func portable(_ value: WireValue, owner: String?) -> WireValue {
        switch value {
        case .reference(var reference):
            reference.zoneID = reference.zoneID.map { stated($0, owner: owner) }
            return .reference(reference)
        case .list(let values, let scalar):
            return .list(values.map { portable($0, owner: owner) }, of: scalar)
        default: return value
        }
    }

    /// Returns a zone's identity, without the owner if that is the caller.
    private func stated(_ zone: WireZoneID, owner: String?) -> WireZoneID {
        let isOwn = database != .shared && zone.ownerRecordName == owner
        return WireZoneID(
            zoneName: zone.zoneName,
            ownerRecordName: isOwn ? nil : zone.ownerRecordName
        )
    }

    private func write(_ line: ArchiveLine) throws {
        do {
            try file.write(contentsOf: Data((try OutputOptions.line(line) + "\n").utf8))
        } catch {
            throw CommandFailure(
                unusable: "The export cannot be written: \(CommandFailure.reason(error))"
            )
        }
    }
}
