#if !canImport(Darwin) || PORTABLE_CLOUDKIT
import CloudKit
import CloudKitCodable
import CloudKitExtras
import CloudKitWebClient
import Foundation

/// The demonstration's steps, each of which checks its results.
struct DemoRun {
    private let transport: CountingTransport
    private let tables: TimeZoneTables
    private let containerA: CKContainer
    private let containerB: CKContainer
    private let folder: URL
    private let zoneID = CKRecordZone.ID(zoneName: "Atlas")
    private let clock = ContinuousClock()

    private var deviceA: CKDatabase { containerA.privateCloudDatabase }
    private var deviceB: CKDatabase { containerB.privateCloudDatabase }

    /// Creates two devices of the server's first user, which share only the server.
    ///
    /// - Parameters:
    ///   - access: The server.
    ///   - tables: The data that the devices share.
    ///   - folder: The folder of the devices' files.
    /// - Throws: `DemoError` when the server has no user.
    init(access: ServerAccess, tables: TimeZoneTables, folder: URL) throws {
        guard let user = access.users.first else { throw DemoError("The server has no user") }
        let transport = CountingTransport(HTTPTransport())
        self.transport = transport
        self.tables = tables
        self.folder = folder
        containerA = CKContainer(client: access.client(of: user, transport: transport))
        containerB = CKContainer(client: access.client(of: user, transport: transport))
    }

    /// Runs all steps.
    func run() async throws -> DemoReport {
        let start = clock.now
        let atlas = Atlas(tables)
        let saved = try await save(atlas)
        let fetched = try await fetch(expecting: atlas)
        try await changeOne(fetched)
        let conflicts = try await collide(fetched)
        let store = try await StoreDemo(containerA, containerB, folder: folder).run(atlas)
        return DemoReport(
            countries: atlas.countries.count,
            timeZones: Set(atlas.countries.flatMap(\.timeZones).map(\.name)).count,
            records: saved.records,
            requests: transport.requests,
            equal: fetched.equal,
            conflictsResolved: conflicts,
            storeRows: store.rows,
            storeEditsOverruled: store.overruled,
            seconds: (clock.now - start).seconds,
            recordsSavedPerSecond: Double(saved.records) / saved.time.seconds,
            recordsFetchedPerSecond: Double(fetched.records.count) / fetched.time.seconds
        )
    }

    // MARK: Device A saves the graph

    private func save(_ atlas: Atlas) async throws -> (records: Int, time: Duration) {
        try await deviceA.save(CKRecordZone(zoneID: zoneID))
        let start = clock.now
        let graph = try await ProgressLine("Device A saves the graph  ").follow { progress in
            try await deviceA.save(atlas, in: zoneID, progress: progress)
        }
        return (graph.records.count, clock.now - start)
    }

    // MARK: Device B fetches the zone's changes and decodes the graph

    private struct Fetched {
        var graph: CloudKitGraph<Atlas>
        var records: [CKRecord]
        var tokenA: CKServerChangeToken
        var time: Duration
        var equal: Bool
    }

    private static func bytes(of atlas: Atlas) throws -> Data {
        guard let file = atlas.source.fileURL else {
            throw DemoError("The atlas's file was not downloaded")
        }
        return try Data(contentsOf: file)
    }

    private func fetch(expecting atlas: Atlas) async throws -> Fetched {
        let bar = ProgressLine("Device B fetches the graph")
        let start = clock.now
        let changes = try await changes(on: deviceB, since: nil)
        let rootID = CKRecord.ID(recordName: Atlas.name, zoneID: zoneID)
        let root = try CloudKitGraphDecoder().decode(
            Atlas.self,
            from: changes.records,
            root: rootID
        )
        let time = clock.now - start
        bar.update(1)
        let equal =
            try root.countries == atlas.countries && Self.bytes(of: root) == Self.bytes(of: atlas)
        // From here on A requests only new changes.
        let tokenA = try await self.changes(on: deviceA, since: nil).token
        return Fetched(
            graph: CloudKitGraph(root: root, rootID: rootID, records: changes.records),
            records: changes.records,
            tokenA: tokenA,
            time: time,
            equal: equal
        )
    }

    private func changes(
        on device: CKDatabase,
        since token: CKServerChangeToken?
    ) async throws -> (records: [CKRecord], token: CKServerChangeToken) {
        var records: [CKRecord] = []
        var token = token
        while true {
            let page = try await device.recordZoneChanges(inZoneWith: zoneID, since: token)
            records += try page.modificationResultsByID.values.map { try $0.get().record }
            token = page.changeToken
            if !page.moreComing { return (records, page.changeToken) }
        }
    }

    // MARK: Device B changes one nested value

    private func changeOne(_ fetched: Fetched) async throws {
        var graph = fetched.graph
        guard let place = graph.root.countries.firstIndex(where: { !$0.timeZones.isEmpty }) else {
            throw DemoError("No country has a time zone")
        }
        // Other countries may share the zone: all of them have the same value.
        let name = graph.root.countries[place].timeZones[0].name
        graph.root.editTimeZone(name) { $0.comments = "edited by device B" }
        try await deviceB.save(&graph)
        let news = try await changes(on: deviceA, since: fetched.tokenA).records
        guard news.map(\.recordID.recordName) == [name],
            news.first?["comments"] == "edited by device B"
        else {
            throw DemoError(
                "Device A received \(news.map(\.recordID.recordName)) instead of \(name) alone"
            )
        }
        Console.say("  Device B changed \(name); device A received exactly that record")
    }

    // MARK: Both change the same record

    private func collide(_ fetched: Fetched) async throws -> Int {
        guard let country = fetched.graph.root.countries.first else {
            throw DemoError("There is no country")
        }
        let recordID = CKRecord.ID(recordName: country.recordName, zoneID: zoneID)
        let first = try await deviceA.record(for: recordID)
        let second = try await deviceB.record(for: recordID)
        first["name"] = "\(country.name) (A)"
        second["name"] = "\(country.name) (B)"
        try await deviceA.save(first)
        var resolved = 0
        do {
            try await deviceB.save(second)
        } catch let error as CKError where error.code == .serverRecordChanged {
            guard let server = error.serverRecord, let client = error.clientRecord,
                let theirs: String = server["name"], let mine: String = client["name"]
            else { throw DemoError("The conflict does not carry both records") }
            server["name"] =
                "\(country.name) (\(theirs.suffix(2).first ?? "?") and "
                + "\(mine.suffix(2).first ?? "?"))"
            try await deviceB.save(server)
            resolved += 1
        }
        let (onA, onB) = (
            try await deviceA.record(for: recordID), try await deviceB.record(for: recordID)
        )
        guard resolved == 1, onA.recordChangeTag == onB.recordChangeTag,
            onA["name"] == "\(country.name) (A and B)", onB["name"] == "\(country.name) (A and B)"
        else { throw DemoError("The devices do not agree after the conflict") }
        Console.say(
            "  Both changed \(country.recordName); device B got serverRecordChanged, merged, saved"
        )
        return resolved
    }
}

extension Atlas {
    /// Edits a time zone in all countries that have it.
    fileprivate mutating func editTimeZone(
        _ name: String,
        _ edit: (inout TimeZoneEntry) -> Void
    ) {
        for country in countries.indices {
            for zone in countries[country].timeZones.indices
            where countries[country].timeZones[zone].name == name {
                edit(&countries[country].timeZones[zone])
            }
        }
    }
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
#endif
