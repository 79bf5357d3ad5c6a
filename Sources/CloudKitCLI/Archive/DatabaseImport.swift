import CloudKitWebClient
import Foundation

/// The import of an exported database into a service.
///
/// Every record replaces the one with its name, so an interrupted import can be repeated: from the
/// start, or after the lines that its checkpoint marks as done. A line that cannot be imported is
/// reported and does not stop the others.
struct DatabaseImport {
    /// The size of the records in one request, in bytes.
    private static let batchBytes = 4 * 1024 * 1024

    let client: WebClient
    /// The database that receives the lines; each part of an export of all databases has its own.
    private var database: DatabaseScope
    /// `true` when each part of the file is imported into its original database.
    private let isAll: Bool
    let assets: AssetFolder?
    /// A closure that receives each line that was not imported, with the reason.
    let reject: (LineReader.Line, String) throws -> Void

    /// A closure that receives the state after each step that cannot be undone.
    let save: (ImportCheckpoint) throws -> Void

    private(set) var state: ImportCheckpoint
    private var report: ImportReport {
        get { state.report }
        set { state.report = newValue }
    }
    private var queues: [WireZoneID: ImportQueue] = [:]
    private var zones: [WireZoneID] = []
    private var end: ArchiveLine.Summary?

    init(
        client: WebClient,
        database: DatabaseScope,
        isAll: Bool,
        assets: AssetFolder?,
        state: ImportCheckpoint,
        save: @escaping (ImportCheckpoint) throws -> Void,
        reject: @escaping (LineReader.Line, String) throws -> Void
    ) {
        self.client = client
        self.database = database
        self.isAll = isAll
        self.assets = assets
        self.state = state
        self.save = save
        self.reject = reject
    }

    /// Imports the next line.
    ///
    /// - Throws: An error when the service refuses a request as a whole, or sends no response.
    mutating func add(_ line: LineReader.Line) async throws {
        guard !line.isBlank else { return state.note([line.number]) }
        let content: ArchiveLine
        do {
            content = try WireJSON.decode(ArchiveLine.self, from: line.data)
        } catch let error as DecodingError {
            guard !state.isDone(line.number) else { return }
            return try refuse(line, WireJSON.place(of: error))
        }
        if let header = content.export {
            guard header.version == ArchiveLine.Header.currentVersion else {
                throw CommandFailure(
                    unusable: "The file has version \(header.version) of the format; this program "
                        + "reads \(ArchiveLine.Header.currentVersion)"
                )
            }
            try await begin(header)
            state.note([line.number])
        } else if state.isDone(line.number) {
            // Other records may need it.
            guard let record = content.record, let name = record.recordName else { return }
            let zone = record.zoneID ?? .defaultZone
            if queues[zone] == nil { zones.append(zone) }
            queues[zone, default: ImportQueue()].noteSent(name)
        } else if let zone = content.zone {
            try await add(zone, line)
        } else if let record = content.record {
            try await add(record, files: content.files ?? [:], line)
        } else if let end = content.end {
            self.end = end
            state.note([line.number])
        } else {
            try refuse(line, "The object is neither export, zone, record nor end")
        }
    }

    /// Begins a database's part of the file.
    private mutating func begin(_ header: ArchiveLine.Header) async throws {
        guard isAll == (header.all ?? false) else {
            throw CommandFailure(
                unusable: isAll
                    ? "The file is of one database: import it without --all"
                    : "The file has all databases of a container: import it with --all"
            )
        }
        guard isAll, header.database != database else { return }
        try await sendWaiting()
        zones = []
        queues = [:]
        database = header.database
    }

    /// Sends the waiting records.
    ///
    /// - Throws: `CommandFailure` when the file's last line is missing because it is truncated.
    mutating func finish() async throws {
        try await sendWaiting()
        guard end != nil else {
            throw CommandFailure(
                "The file has no last line \"end\": it was cut short. What it has was imported"
            )
        }
    }

    private mutating func sendWaiting() async throws {
        for zone in zones {
            repeat {
                try await sendReady(zone)
                queues[zone]?.stopWaitingForAbsent()
            } while queues[zone]?.ready.isEmpty == false
            // The remaining records need each other, and can only be sent together.
            var rest = (queues[zone]?.takeWaiting() ?? [])[...]
            while !rest.isEmpty {
                let batch = Array(rest.prefix(Limits.operationsPerRequest))
                rest = rest.dropFirst(batch.count)
                try await send(batch, zone, together: !zone.isDefault)
            }
        }
    }

    private mutating func refuse(_ line: LineReader.Line, _ reason: String) throws {
        report.rejected += 1
        try reject(line, reason)
        state.note([line.number])
        try save(state)
    }

    private mutating func add(_ zone: WireZoneID, _ line: LineReader.Line) async throws {
        if database == .private, !zone.isDefault {
            let request = ModifyZonesRequest(operations: [.init(.create, zone)])
            let made = try await client.modifyZones(request, in: database).zones
            if let failure = made.first?.failure {
                return try refuse(line, OutputOptions.text(failure))
            }
        }
        report.zones += 1
        state.note([line.number])
        try save(state)
    }

    private mutating func add(
        _ record: WireRecord,
        files: [String: [String]],
        _ line: LineReader.Line
    ) async throws {
        guard let name = record.recordName, record.recordType != nil || record.deleted == true
        else { return try refuse(line, "The record has no recordName or no recordType") }
        guard record.recordType != WireRecord.shareType else {
            report.shares += 1
            return state.note([line.number])
        }
        var found: [String: [URL]] = [:]
        for key in record.fields.keys.sorted() {
            let needed = record.assets(of: key)
            let count = needed.count
            guard count > 0 else { continue }
            let urls = (files[key] ?? []).compactMap { assets?.file(named: $0) }
            guard urls.count == count else {
                return try refuse(
                    line,
                    "Record \(name), field \(key): \(Amount.text(count, "file is", "files are")) needed, and \(urls.count) "
                        + (assets == nil ? "given; name their folder with --assets" : "are there")
                )
            }
            for (asset, url) in zip(needed, urls) {
                let size = UploadFile.size(of: url) ?? 0
                guard size >= asset.size ?? 0 else {
                    return try refuse(
                        line,
                        "Record \(name), field \(key): \(url.path) was cut short: it has \(size) of "
                            + "\(asset.size ?? 0) bytes; copy or export it again"
                    )
                }
            }
            found[key] = urls
        }
        let zone = record.zoneID ?? .defaultZone
        if queues[zone] == nil { zones.append(zone) }
        let item = ImportItem(line: line, name: name, record: record, files: found)
        let replaced = queues[zone, default: ImportQueue()].add(item)
        state.note(replaced.map(\.line.number))
        guard let queue = queues[zone] else { return }
        if queue.ready.count >= Limits.operationsPerRequest || queue.bytes >= Self.batchBytes {
            try await sendReady(zone)
        }
    }

    private mutating func sendReady(_ zone: WireZoneID) async throws {
        var batch: [ImportItem] = []
        var names: Set<String> = []
        for item in queues[zone]?.takeReady() ?? [] {
            // A request may change each record only once.
            if !names.insert(item.name).inserted {
                try await send(batch, zone, together: false)
                batch = []
                names = [item.name]
            }
            batch.append(item)
        }
        if !batch.isEmpty { try await send(batch, zone, together: false) }
    }

    /// Sends records; if together, all or none are saved, and none may refer to a later one.
    private mutating func send(
        _ items: [ImportItem],
        _ zone: WireZoneID,
        together: Bool
    ) async throws {
        let items = try await upload(keepingFiles(items, zone), zone)
        var results: [ItemResult<WireRecord>] = []
        try await client.modify(
            items.map(\.operation),
            zoneID: zone,
            atomic: together,
            desiredKeys: [],
            in: database
        ) { results += $0 }
        if together, results.contains(where: { $0.failure != nil }) {
            return try await send(items, zone, together: false)
        }
        for (item, result) in zip(items, results) {
            if let failure = result.failure {
                report.rejected += 1
                try reject(item.line, OutputOptions.text(failure))
            } else {
                report.records += 1
            }
        }
        state.note(items.map(\.line.number))
        try save(state)
    }

    /// Adds the files of existing records to those that are about to replace them and that say
    /// nothing of these fields: otherwise the files would be lost.
    private mutating func keepingFiles(
        _ items: [ImportItem],
        _ zone: WireZoneID
    ) async throws -> [ImportItem] {
        var items = items
        let saved = items.indices.filter { !items[$0].isDeletion }
        guard !saved.isEmpty else { return items }
        let found = try await client.lookupRecords(
            LookupRecordsRequest(
                records: saved.map { .init(recordName: items[$0].name) },
                zoneID: zone
            ),
            in: database
        )
        for (index, result) in zip(saved, found.records) {
            // Most records are new.
            guard let old = try? result.get() else { continue }
            for (key, field) in old.fields where items[index].record.fields[key] == nil {
                let assets = old.assets(of: key)
                guard !assets.isEmpty else { continue }
                items[index].record.fields[key] = field
                report.keptAssets = (report.keptAssets ?? 0) + assets.count
            }
        }
        return items
    }

    /// Uploads the files of records that are about to be sent, and adds the receipts to them.
    private mutating func upload(
        _ items: [ImportItem],
        _ zone: WireZoneID
    ) async throws -> [ImportItem] {
        var items = items
        for index in items.indices {
            for (key, files) in items[index].files.sorted(by: { $0.key < $1.key }) {
                let item = items[index]
                // Already uploaded for a request that was refused as a whole.
                guard item.record.assets(of: key).contains(where: { $0.receipt == nil }) else {
                    continue
                }
                let uploads = try files.map { try UploadFile($0, for: client) }
                let wanted = files.map { _ in
                    UploadAssetsRequest.Token(
                        recordName: item.name,
                        recordType: item.record.recordType ?? "",
                        fieldName: key
                    )
                }
                let tokens = try await client.uploadTokens(
                    for: wanted,
                    zoneID: zone,
                    in: database
                )
                var uploaded: [WireAsset] = []
                for (file, token) in zip(uploads, tokens) {
                    uploaded.append(try await file.send(to: token))
                    report.assets += 1
                }
                items[index].record.setAssets(uploaded, of: key)
            }
        }
        return items
    }
}
