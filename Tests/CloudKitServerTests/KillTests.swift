import Foundation
import ServerFixtures
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("A server that is killed")
struct KillTests {
    /// A server in a process of its own.
    private final class Child {
        let server: TestServer
        private let process: Process

        init(_ directory: String) throws {
            let tests = try #require(Bundle.main.executableURL)
            let built = tests.deletingLastPathComponent()
            process = Process()
            process.executableURL = built.appendingPathComponent("ServerProcess")
            process.arguments = [directory]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            var line = Data()
            while !line.contains(10) {
                let part = output.fileHandleForReading.availableData
                if part.isEmpty { throw CocoaError(.fileReadUnknown) }
                line += part
            }
            let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            server = TestServer(
                url: String(words[0]),
                apiToken: String(words[1]),
                webToken: String(words[2])
            )
        }

        /// Ends the process without warning; returns when it is gone.
        func kill() async {
            await withCheckedContinuation { continuation in
                process.terminationHandler = { _ in continuation.resume() }
                _ = signal(SIGKILL)
            }
        }

        private func signal(_ number: Int32) -> Int32 {
            #if canImport(Glibc)
            Glibc.kill(process.processIdentifier, number)
            #elseif canImport(Musl)
            Musl.kill(process.processIdentifier, number)
            #else
            Darwin.kill(process.processIdentifier, number)
            #endif
        }

        deinit {
            if process.isRunning { _ = signal(SIGKILL) }
        }
    }

    @Test("Loses no acknowledged record and tears no batch, over many rounds under load")
    func rounds() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cloudkit-kill-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var acknowledged: Set<String> = []
        let rounds = Int(ProcessInfo.processInfo.environment["KILL_ROUNDS"] ?? "") ?? 20
        for round in 0..<rounds {
            let child = try Child(folder.path)
            if round == 0 { try await child.server.addZone("Notes") }
            let found = try await child.server.names()
            #expect(acknowledged.isSubset(of: found))
            #expect(Self.tornBatches(found).isEmpty)
            acknowledged.formUnion(await Self.load(child, round))
        }
        let child = try Child(folder.path)
        #expect(acknowledged.isSubset(of: try await child.server.names()))
        #expect(acknowledged.count > rounds)
        await child.kill()
    }

    /// Saves batches of three from several clients until the server is killed in the middle of it;
    /// answers the names that were acknowledged.
    private static func load(_ child: Child, _ round: Int) async -> Set<String> {
        let server = child.server
        let enough = 3 + round % 5
        return await withTaskGroup(of: (client: Int, names: Set<String>).self) { group in
            func save(_ client: Int, _ batch: Int) {
                group.addTask {
                    let names = (0..<3).map { "r\(round)-\(client)-\(batch)-\($0)" }
                    let answer = try? await server.save(names.map { TestCloud.note("create", $0) })
                    let isSaved =
                        answer?.status == 200
                        && answer?.body.records.elements.allSatisfy { $0.recordChangeTag != nil }
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

    /// The batches of which some records are there and some are not.
    private static func tornBatches(_ names: [String]) -> [String] {
        let batches = Dictionary(grouping: names) { $0.split(separator: "-").dropLast() }
        return batches.filter { $0.value.count != 3 }.map { $0.key.joined(separator: "-") }
    }
}
