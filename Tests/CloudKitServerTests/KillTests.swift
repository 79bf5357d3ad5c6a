import Foundation
import ProcessFixtures
import ServerFixtures
import Testing

@Suite("A server that is killed")
struct KillTests {
    /// A server in its own process.
    private struct Child {
        let server: TestServer
        private let process: ChildProcess

        init(_ directory: String) async throws {
            process = try await ChildProcess("ServerProcess", [directory])
            server = TestServer(
                url: process.words[0],
                apiToken: process.words[1],
                webToken: process.words[2]
            )
        }

        /// Ends the process without warning; returns when it has ended.
        func kill() async { await process.kill() }
    }

    /// The state of a client that was present all the time: it fetches changes, and never starts over.
    private struct Follower {
        private var token = JSON.null
        private(set) var names: Set<String> = []

        /// Fetches the changes since the last time.
        ///
        /// - Returns: The names that the feed reported a second time without a change.
        mutating func follow(_ server: TestServer) async throws -> [String] {
            var repeated: [String] = []
            while true {
                let response = try await server.call(
                    "changes/zone",
                    ["zones": [["zoneID": ["zoneName": "Notes"], "syncToken": token]]]
                )
                let page = response.body.zones[0]
                try #require(page.serverErrorCode.text == nil)
                for name in page.records.elements.compactMap(\.recordName.text)
                where !names.insert(name).inserted {
                    repeated.append(name)
                }
                token = page.syncToken
                if page.moreComing != true { return repeated }
            }
        }
    }

    /// Returns the names of records whose asset is missing, or differs from the uploaded one.
    private static func brokenAssets(
        _ names: Set<String>,
        _ server: TestServer
    ) async throws -> [String] {
        var broken: [String] = []
        for name in names where name.hasSuffix("-0") {
            let response = try await server.call(
                "records/lookup",
                ["zoneID": ["zoneName": "Notes"], "records": [["recordName": .string(name)]]]
            )
            let value = response.body.records[0].fields.file.value
            guard let link = value.downloadURL.text else {
                broken.append(name)
                continue
            }
            let file = try await server.send(link, method: "GET")
            if file.status != 200 || file.data != contents(name) { broken.append(name) }
        }
        return broken
    }

    /// Returns the contents of a record's file: its name, repeated.
    private static func contents(_ name: String) -> Data {
        Data(String(repeating: name + "\n", count: 2000).utf8)
    }

    /// Uploads the file of a record; returns the field, or nil if the server was killed.
    private static func upload(_ name: String, _ server: TestServer) async -> JSON? {
        let token: JSON = [
            "recordName": .string(name), "recordType": "Note", "fieldName": "file",
        ]
        let prepared = try? await server.call(
            "assets/upload",
            ["zoneID": ["zoneName": "Notes"], "tokens": [token]]
        )
        guard let url = prepared?.body.tokens[0].url.text,
            let uploaded = try? await server.send(url, contents(name)), uploaded.status == 200
        else { return nil }
        return ["value": uploaded.body.singleFile]
    }

    @Test(
        "Loses no acknowledged record or file, tears no batch and reports each change once, over many rounds"
    )
    func rounds() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-kill-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var acknowledged: Set<String> = []
        var follower = Follower()
        let rounds = Int(ProcessInfo.processInfo.environment["KILL_ROUNDS"] ?? "") ?? 8
        for round in 0..<rounds {
            let child = try await Child(folder.path)
            if round == 0 { try await child.server.addZone("Notes") }
            let found = try await child.server.names()
            #expect(acknowledged.isSubset(of: found))
            #expect(Self.tornBatches(found).isEmpty)
            #expect(try await follower.follow(child.server).isEmpty)
            #expect(follower.names == Set(found))
            // Those of the last round; the others were checked before, and are checked again at the end.
            let last = acknowledged.filter { $0.hasPrefix("r\(round - 1)-") }
            #expect(try await Self.brokenAssets(last, child.server).isEmpty)
            acknowledged.formUnion(await Self.load(child, round))
        }
        let child = try await Child(folder.path)
        let found = try await child.server.names()
        #expect(acknowledged.isSubset(of: found))
        #expect(acknowledged.count > rounds)
        #expect(try await follower.follow(child.server).isEmpty)
        #expect(follower.names == Set(found))
        #expect(try await Self.brokenAssets(acknowledged, child.server).isEmpty)
        print("\(rounds) rounds: \(acknowledged.count) acknowledged of \(found.count) records")
        await child.kill()
    }

    /// Saves batches of three from several clients until the server is killed meanwhile; returns
    /// the names that were acknowledged.
    private static func load(_ child: Child, _ round: Int) async -> Set<String> {
        let server = child.server
        let enough = 3 + round % 5
        return await withTaskGroup(of: (client: Int, names: Set<String>).self) { group in
            func save(_ client: Int, _ batch: Int) {
                group.addTask {
                    let names = (0..<3).map { "r\(round)-\(client)-\(batch)-\($0)" }
                    guard let file = await upload(names[0], server) else { return (client, []) }
                    let response = try? await server.save(
                        names.map {
                            FixtureCloud.note("create", $0, $0 == names[0] ? ["file": file] : [:])
                        }
                    )
                    let isSaved =
                        response?.status == 200
                        && response?.body.records.elements.allSatisfy { $0.recordChangeTag != nil }
                            == true
                    return (client, isSaved ? Set(names) : [])
                }
            }
            for client in 0..<8 { save(client, 0) }
            var acknowledged: Set<String> = []
            var batch = 0
            var isRunning = true
            for await result in group {
                acknowledged.formUnion(result.names)
                guard isRunning else { continue }
                batch += 1
                save(result.client, batch)
                if batch >= enough {
                    await child.kill()
                    // The client would try to connect again until its time is up.
                    group.cancelAll()
                    isRunning = false
                }
            }
            return acknowledged
        }
    }

    /// Returns the batches of which some records exist and some do not.
    private static func tornBatches(_ names: [String]) -> [String] {
        let batches = Dictionary(grouping: names) { $0.split(separator: "-").dropLast() }
        return batches.filter { $0.value.count != 3 }.map { $0.key.joined(separator: "-") }
    }
}
