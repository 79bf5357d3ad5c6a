import CloudKit
import CloudKitExtras
import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

@Suite("Listening to the service, in virtual time")
struct CourierTests {
    private static let token =
        #"{"apnsEnvironment":"development","apnsToken":"t","webcourierURL":"http://cloud.invalid/aps"}"#

    /// A database that listens over a script, with a controlled clock and jitter.
    private struct Line {
        let clock = VirtualClock()
        let executor = SeededExecutor(seed: 1)
        let way: ScriptedTransport
        let service: DatabaseSyncService

        init(_ script: @escaping ScriptedTransport.Script) {
            way = ScriptedTransport(script)
            let client = WebClient(
                url: "http://cloud.invalid",
                container: "iCloud.test",
                environment: .development,
                credentials: WebCredentials(apiToken: "a", webAuthToken: "u"),
                transport: way
            )
            service = DatabaseSyncService(
                CKContainer(client: client).privateCloudDatabase,
                environment: SyncEngineEnvironment(
                    clock: clock,
                    chance: { 0 },
                    log: { _ in },
                    executor: executor
                )
            )
        }

        /// Lets the next attempt happen, and returns the wait before it.
        func wait() async throws -> Duration {
            let time = try #require(clock.next)
            let wait = time - clock.now.time
            clock.advance(to: time)
            await executor.drain()
            return wait
        }
    }

    @Test("Attempts to listen come after growing waits, of a minute at most, and none between")
    func backOff() async throws {
        let line = Line { _, _ in throw TransportError(.unreachable, message: "gone") }
        let pushes = line.service.pushes()
        await line.executor.drain()
        var waits: [Duration] = []
        for attempt in 1...9 {
            #expect(line.way.requests.count == attempt)
            waits.append(try await line.wait())
        }
        // Half of each wait is jitter.
        #expect(waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        withExtendedLifetime(pushes) {}
    }

    @Test("A push starts the waits again; a busy service is left alone for as long as it asks")
    func recovery() async throws {
        let responses = Mutex<[String]>(["cut", "cut", "token", "push", "cut", "busy", "cut"])
        let line = Line { _, _ in
            let response = responses.withLock { $0.isEmpty ? "cut" : $0.removeFirst() }
            switch response {
            case "token": return .ok(Self.token)
            case "push": return .ok("{}")
            case "busy":
                return .refusal(
                    503,
                    #"{"serverErrorCode":"TRY_AGAIN_LATER","reason":"r","uuid":"u","retryAfter":90}"#
                )
            default: throw TransportError(.broken, message: "cut")
            }
        }
        var pushes = line.service.pushes().makeAsyncIterator()
        await line.executor.drain()
        #expect(try await line.wait() == .seconds(0.5))
        // The token, the push, and the cut after it.
        #expect(try await line.wait() == .seconds(1))
        #expect(line.way.requests.count == 5)
        await pushes.next()
        await pushes.next()
        #expect(try await line.wait() == .seconds(0.5))
        #expect(try await line.wait() == .seconds(90))
        #expect(try await line.wait() == .seconds(2))
    }

    @Test("The courier does not wait for a listener that has ended")
    func end() async throws {
        let line = Line { _, _ in throw TransportError(.unreachable, message: "gone") }
        do {
            let pushes = line.service.pushes()
            await line.executor.drain()
            #expect(line.clock.next != nil)
            withExtendedLifetime(pushes) {}
        }
        await line.executor.drain()
        #expect(line.clock.next == nil)
        #expect(line.way.requests.count == 1)
    }
}
