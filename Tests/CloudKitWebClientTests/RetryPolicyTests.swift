import CloudKitWebClient
import Foundation
import Support
import Testing

@Suite("Repeated requests")
struct RepetitionTests {
    private static let throttled = Result<TransportResponse, TransportError>.success(
        TransportResponse(
            status: 429,
            body: Data(#"{"serverErrorCode":"THROTTLED","reason":"x","retryAfter":3}"#.utf8)
        )
    )

    private func client(
        _ failures: [Result<TransportResponse, TransportError>],
        _ clock: JumpingClock,
        _ retryPolicy: RetryPolicy = .patient
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
        client.retryPolicy = retryPolicy
        client.clock = clock
        return client
    }

    @Test("What the service asks to wait is waited")
    func retryAfter() async throws {
        let clock = JumpingClock()
        _ = try await client([Self.throttled, Self.throttled], clock).listZones(in: .private)
        #expect(clock.jumps == [.seconds(3), .seconds(3)])
    }

    @Test("Without a hint of the service the waits double")
    func backoff() async throws {
        let clock = JumpingClock()
        let lost = Result<TransportResponse, TransportError>.failure(
            TransportError(.unreachable, message: "no server")
        )
        _ = try await client([lost, lost, lost], clock).listZones(in: .private)
        #expect(clock.jumps == [.seconds(1), .seconds(2), .seconds(4)])
    }

    @Test("A write that may have reached the server is not retried; a read is")
    func changes() async throws {
        let broken = Result<TransportResponse, TransportError>.failure(
            TransportError(.broken, message: "broken")
        )
        let clock = JumpingClock()
        _ = try await client([broken], clock).listZones(in: .private)
        #expect(clock.jumps == [.seconds(1)])
        await #expect(throws: WebClientError.self) {
            try await client([broken], clock).modifyZones(
                .init(operations: []),
                in: .private
            )
        }
        #expect(clock.jumps == [.seconds(1)])
    }

    @Test(
        "A service in maintenance is waited for through a week, whatever it says, and not forever",
        arguments: [[:], ["retry-after": "1"]]
    )
    func maintenance(headers: [String: String]) async throws {
        let clock = JumpingClock()
        let busy = Result<TransportResponse, TransportError>.success(
            TransportResponse(status: 503, headers: headers)
        )
        let week = Duration.seconds(7 * 24 * 3600)
        _ = try await client(Array(repeating: busy, count: 2_000), clock).listZones(in: .private)
        #expect(clock.jumps.reduce(.zero, +) > week - .seconds(3 * 3600))
        let endless = Array(repeating: busy, count: 10_000)
        let later = JumpingClock()
        await #expect(throws: WebClientError.self) {
            try await client(endless, later).listZones(in: .private)
        }
        #expect(later.jumps.reduce(.zero, +) >= week)
        #expect(later.jumps.reduce(.zero, +) < week + .seconds(3600))
    }

    @Test("By default nothing is repeated")
    func never() async throws {
        let clock = JumpingClock()
        await #expect(throws: WebClientError.self) {
            try await client([Self.throttled], clock, .never).listZones(in: .private)
        }
        #expect(clock.jumps == [])
    }

    @Test("What responded instead of the service is requested again where that only reads")
    func foreignResponse() async throws {
        let portal = Result<TransportResponse, TransportError>.success(.ok("<html>"))
        let clock = JumpingClock()
        _ = try await client([portal, portal], clock).listZones(in: .private)
        #expect(clock.jumps == [.seconds(1), .seconds(2)])
        await #expect(throws: WebClientError.self) {
            try await client([portal], clock).modifyZones(.init(operations: []), in: .private)
        }
        #expect(clock.jumps.count == 2)
    }

    private static let absurd = [
        ("1e300", 3600.0), ("86400", 3600), ("3600", 3600), ("-5", 0), ("-1e300", 0), ("0.5", 0.5),
    ]

    @Test("No number of seconds that a service names ends the process; an hour is the longest wait")
    func absurdWaits() async throws {
        let clock = JumpingClock()
        let responses = Self.absurd.map {
            Result<TransportResponse, TransportError>.success(
                .refusal(
                    503,
                    #"{"serverErrorCode":"TRY_AGAIN_LATER","reason":"x","retryAfter":\#($0.0)}"#
                )
            )
        }
        _ = try await client(responses, clock).listZones(in: .private)
        // Without a useful time from the server, the delays are the client's own, and double.
        #expect(clock.jumps == [3600, 3600, 3600, 8, 16, 32].map { .seconds($0) })
    }

    @Test("Errors ask for a wait of an hour at most, those of single items too", arguments: absurd)
    func told(_ text: String, _ seconds: Double) async throws {
        let error = #"{"serverErrorCode":"ZONE_BUSY","reason":"x","retryAfter":\#(text)}"#
        let transport = ScriptedTransport { request, _ in
            request.isAbout("zones/list")
                ? .ok(#"{"zones":[\#(error)]}"#) : .refusal(503, error)
        }
        let client = WebClient(
            url: "http://cloud.invalid",
            container: "c",
            environment: .development,
            credentials: WebCredentials(apiToken: "a"),
            transport: transport
        )
        let item = try await client.listZones(in: .private).zones.first
        #expect(throws: ItemError.self) { try item?.get() }
        if case .failure(let error) = item {
            #expect(error.retryAfter == seconds)
        }
        let refusal = await #expect(throws: WebClientError.self) { try await client.caller() }
        guard case .refused(let refusal, _) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(refusal.retryAfter == seconds)
    }
}
