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
        #expect(clock.jumps == [.seconds(3), .seconds(3)])
    }

    @Test("Without a word of the service the waits double")
    func backoff() async throws {
        let clock = JumpingClock()
        let lost = Result<TransportResponse, TransportError>.failure(
            TransportError(.unreachable, message: "no server")
        )
        _ = try await client([lost, lost, lost], clock).listZones(in: .private)
        #expect(clock.jumps == [.seconds(1), .seconds(2), .seconds(4)])
    }

    @Test("A change that may have reached the server is not sent again; a reading one is")
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

    @Test("By default nothing is repeated")
    func never() async throws {
        let clock = JumpingClock()
        await #expect(throws: WebClientError.self) {
            try await client([Self.throttled], clock, .never).listZones(in: .private)
        }
        #expect(clock.jumps == [])
    }

    @Test("What answered instead of the service is asked again where that only reads")
    func foreignAnswer() async throws {
        let portal = Result<TransportResponse, TransportError>.success(.ok("<html>"))
        let clock = JumpingClock()
        _ = try await client([portal, portal], clock).listZones(in: .private)
        #expect(clock.jumps == [.seconds(1), .seconds(2)])
        await #expect(throws: WebClientError.self) {
            try await client([portal], clock).modifyZones(.init(operations: []), in: .private)
        }
        #expect(clock.jumps.count == 2)
    }

    @Test("No number of seconds that a service names ends the process; a day is the longest wait")
    func absurdWaits() async throws {
        let clock = JumpingClock()
        let answers = ["1e300", "-5"].map {
            Result<TransportResponse, TransportError>.success(
                .refusal(
                    503,
                    #"{"serverErrorCode":"TRY_AGAIN_LATER","reason":"x","retryAfter":\#($0)}"#
                )
            )
        }
        _ = try await client(answers, clock).listZones(in: .private)
        #expect(clock.jumps == [.seconds(86_400), .seconds(2)])
    }
}
