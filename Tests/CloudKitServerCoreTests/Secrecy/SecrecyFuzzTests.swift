import Foundation
import ServerFixtures
import Testing

@Suite("A client of several people that tries everything")
struct SecrecyFuzzTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// The number of requests for each seed; `Scripts/secrecy` sends more.
    private static let requests = environment["CLOUDKIT_SECRECY_REQUESTS"].flatMap(Int.init) ?? 250

    static let seeds: [UInt64] = {
        let first = environment["CLOUDKIT_SECRECY_SEED"].flatMap(UInt64.init) ?? 1
        return [first, first + 1]
    }()

    @Test(
        "No response shows, and no request changes, what the person who asks may not see or change",
        arguments: SecrecyFuzzTests.seeds
    )
    func fuzz(seed: UInt64) async throws {
        var client = try await SecrecyClient(seed: seed)
        do {
            while client.sent < Self.requests { try await client.step() }
        } catch let problem as SecrecyClient.Problem {
            Issue.record("Seed \(seed), request \(client.sent): \(problem)")
        }
        // A run without any share shows nothing.
        let shares = client.model.zones.values.flatMap(\.records.values).compactMap(\.share)
        #expect(shares.contains { $0.guests.values.contains(where: \.hasAccepted) }, "Seed \(seed)")
        #expect(!client.model.pub.isEmpty, "Seed \(seed)")
    }
}
