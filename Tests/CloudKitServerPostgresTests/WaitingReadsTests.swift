#if PostgreSQL
import CloudKitServerCore
import CloudKitServerPostgres
import Foundation
import PostgresFixtures
import Testing

@Suite(
    "Reads that wait for a connection to PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, PostgresServer.advice)
)
struct WaitingReadsTests {
    private struct OwnError: Error, Equatable {
        var number: Int
    }

    @Test("Each has its own result or its own error, and sees what was written before it began")
    func crowd() async throws {
        // One connection writes and reads, so that nearly all reads wait.
        let storage = try await PostgresServer.open(connections: 1)
        for written in 0..<20 {
            try await storage.write { try $0.setSetting("count", Data("\(written)".utf8)) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let result: Result<String?, any Error>
                        do {
                            result = .success(
                                try await storage.read { reader in
                                    let count = try reader.setting("count")
                                    if number.isMultiple(of: 3) { throw OwnError(number: number) }
                                    return count.map { String(decoding: $0, as: UTF8.self) }
                                }
                            )
                        } catch {
                            result = .failure(error)
                        }
                        switch result {
                        case .success(let count):
                            #expect(count == "\(written)" && !number.isMultiple(of: 3))
                        case .failure(let error):
                            #expect(error as? OwnError == OwnError(number: number))
                            #expect(number.isMultiple(of: 3))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        // Those that waited shared snapshots: otherwise each read, and each write, has its own.
        #expect(storage.counts.transactions < 20 * 101)
    }
}
#endif
