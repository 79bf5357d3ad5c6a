import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

@Suite("Repeated requests")
struct RepetitionTests {
    /// A clock whose time passes at once, and which remembers how much passed.
    private final class JumpingClock: Clock, Sendable {
        let jumps = Mutex<[Duration]>([])

        var now: ContinuousClock.Instant { ContinuousClock.now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            try Task.checkCancellation()
            jumps.withLock { $0.append(now.duration(to: deadline)) }
        }

        /// The jumps in whole tenths of seconds.
        var tenths: [Int] {
            jumps.withLock { $0 }.map { Int(($0 / .milliseconds(100)).rounded()) }
        }
    }

    private static let throttled = Result<TransportResponse, TransportError>.success(
        TransportResponse(
            status: 429,
            body: Data(#"{"serverErrorCode":"THROTTLED","reason":"x","retryAfter":3}"#.utf8)
        )
    )

    private func client(
        _ failures: [Result<TransportResponse, TransportError>],
        _ clock: JumpingClock,
        _ repetition: Repetition = .patient
    ) -> WebClient {
        var client = WebClient(
            url: "http://cloud.invalid",
            container: "c",
            environment: .development,
            credentials: WebCredentials(apiToken: "a"),
            transport: ScriptedTransport { _, index in
                index < failures.count
                    ? try failures[index].get() : .ok(#"{"records":[],"zones":[]}"#)
            }
        )
        client.repetition = repetition
        client.clock = clock
        return client
    }

    @Test("What the service asks to wait is waited")
    func retryAfter() async throws {
        let clock = JumpingClock()
        _ = try await client([Self.throttled, Self.throttled], clock).listZones(in: .private)
        #expect(clock.tenths == [30, 30])
    }

    @Test("Without a word of the service the waits double")
    func backoff() async throws {
        let clock = JumpingClock()
        let lost = Result<TransportResponse, TransportError>.failure(
            TransportError(.unreachable, message: "no server")
        )
        _ = try await client([lost, lost, lost], clock).listZones(in: .private)
        #expect(clock.tenths == [10, 20, 40])
    }

    @Test("A change that may have reached the server is not sent again; a reading one is")
    func changes() async throws {
        let broken = Result<TransportResponse, TransportError>.failure(
            TransportError(.broken, message: "broken")
        )
        let clock = JumpingClock()
        _ = try await client([broken], clock).listZones(in: .private)
        #expect(clock.tenths == [10])
        await #expect(throws: WebClientError.self) {
            try await client([broken], clock).modifyZones(
                .init(operations: []),
                in: .private
            )
        }
        #expect(clock.tenths == [10])
    }

    @Test("By default nothing is repeated")
    func never() async throws {
        let clock = JumpingClock()
        await #expect(throws: WebClientError.self) {
            try await client([Self.throttled], clock, .never).listZones(in: .private)
        }
        #expect(clock.tenths == [])
    }
}
