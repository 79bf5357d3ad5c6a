import CloudKit
import CloudKitExtras
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

@Suite("Interrupted operations")
struct InterruptionTests {
    private func outcome(
        of operation: CKFetchRecordsOperation,
        on database: CKDatabase,
        cancellingWhen started: AsyncStream<Void>? = nil
    ) async -> CKError? {
        let error = Mutex<CKError?>(nil)
        let shared = Shared(error)
        operation.fetchRecordsResultBlock = { result in
            if case .failure(let failure as CKError) = result { shared.set(failure) }
        }
        async let end: Void = finish([operation], on: database)
        if let started {
            for await _ in started { break }
            operation.cancel()
        }
        await end
        return shared.value
    }

    private final class Shared: Sendable {
        private let state: Mutex<CKError?>

        init(_ state: consuming sending Mutex<CKError?>) {
            self.state = state
        }

        var value: CKError? { state.withLock { $0 } }

        func set(_ error: CKError) {
            state.withLock { $0 = error }
        }
    }

    @Test(
        "An operation that is cancelled while it waits for the server ends with operationCancelled",
        arguments: CloudFixture.allCases
    )
    func cancellation(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (started, start) = AsyncStream<Void>.makeStream()
            let device = try await cloud.device(
                of: try await cloud.addUser(),
                transport: ScriptedTransport.silent { start.yield() }.over
            )
            let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
            let error = await outcome(
                of: operation,
                on: device.privateCloudDatabase,
                cancellingWhen: started
            )
            #expect(error?.code == .operationCancelled)
            #expect(operation.isCancelled && operation.isFinished)
        }
    }

    @Test(
        "An operation that takes longer than its resource timeout ends with networkFailure",
        arguments: CloudFixture.allCases
    )
    func timeout(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let (started, start) = AsyncStream<Void>.makeStream()
            let clock = GatedClock(started)
            var client = try await cloud.client(
                of: try await cloud.addUser(),
                transport: ScriptedTransport.silent { start.yield() }.over
            )
            client.clock = clock
            let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
            // A time of zero leaves the choice to the group.
            operation.configuration.timeoutIntervalForResource = 0
            let group = CKOperationGroup()
            group.defaultConfiguration.timeoutIntervalForResource = 3600
            operation.group = group
            // A database does not keep its container, whose client has the clock.
            let container = CKContainer(client: client)
            let error = await outcome(of: operation, on: container.privateCloudDatabase)
            withExtendedLifetime(container) {}
            #expect(error?.code == .networkFailure)
            #expect(error?.localizedDescription.contains("timeoutIntervalForResource") ?? false)
            #expect(clock.waits.withLock { $0 } == [.seconds(3600)])
        }
    }

    @Test(
        "A call of a configured database that takes longer than its time ends with networkFailure",
        arguments: CloudFixture.allCases,
        [QualityOfService.userInitiated, .background]
    )
    func callTimeout(_ fixture: CloudFixture, _ quality: QualityOfService) async throws {
        try await fixture.run { cloud in
            let (started, start) = AsyncStream<Void>.makeStream()
            let clock = GatedClock(started)
            let user = try await cloud.addUser()
            let transport = ScriptedTransport.silent { start.yield() }
            var client = try await cloud.client(of: user, transport: transport.over)
            client.clock = clock
            let container = CKContainer(client: client)
            let database = container.privateCloudDatabase
            // The user was requested before, so that only one request is waited for.
            _ = try await database.allRecordZones()
            let configuration = CKOperation.Configuration()
            configuration.qualityOfService = quality
            configuration.timeoutIntervalForResource = 3600
            let error = await expectCKError(.networkFailure) {
                try await database.configuredWith(configuration: configuration) {
                    try await $0.record(for: CKRecord.ID(recordName: "a"))
                }
            }
            #expect(error?.localizedDescription.contains("timeoutIntervalForResource") ?? false)
            #expect(clock.waits.withLock { $0 } == [.seconds(3600)])
            // Nothing is sent when there is no time, and files have as much time as records.
            configuration.timeoutIntervalForResource = .leastNonzeroMagnitude
            let count = transport.requests.count
            await expectCKError(.networkFailure) {
                try await database.configuredWith(configuration: configuration) {
                    try await $0.allRecordZones()
                }
            }
            #expect(transport.requests.count == count)
        }
    }

    @Test(
        "A busy service is waited for by calls of a patient database until their time is over",
        arguments: CloudFixture.allCases
    )
    func patientCall(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let rule = FaultRule(.error(.throttled, retryAfter: 7), operation: "zones/list")
            cloud.setFaults(FaultPlan(rules: [rule]))
            let clock = RunningClock()
            var client = try await cloud.client(of: try await cloud.addUser())
            client.clock = clock
            let database = CKContainer(client: client).privateCloudDatabase
            let configuration = CKOperation.Configuration()
            configuration.qualityOfService = .background
            configuration.timeoutIntervalForResource = 30
            let error = await expectCKError(.networkFailure) {
                try await database.configuredWith(configuration: configuration) {
                    try await $0.allRecordZones()
                }
            }
            #expect(error?.localizedDescription.contains("30") ?? false)
            #expect(clock.waited == .seconds(30))
        }
    }

    @Test("Timeouts without end, or below zero, end no process", arguments: CloudFixture.allCases)
    func absurdTimeouts(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            for seconds in [.infinity, .greatestFiniteMagnitude, 1e12] {
                let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
                operation.configuration.timeoutIntervalForRequest = seconds
                operation.configuration.timeoutIntervalForResource = seconds
                let log = Log()
                operation.fetchRecordZonesResultBlock = { result in
                    if case .success = result { log.note("done") }
                }
                await finish([operation], on: database)
                #expect(log.all == ["done"])
            }
        }
    }

    /// Values that mean that no limit was set.
    private static let noLimits: [TimeInterval] = [0, -1, -.infinity, .nan]

    @Test("No time, less than that, and what is no number stand for the default timeouts")
    func defaultTimeouts() async throws {
        try await CloudFixture.inProcess.run { cloud in
            for seconds in Self.noLimits {
                let (started, start) = AsyncStream<Void>.makeStream()
                let clock = GatedClock(started)
                let transport = ScriptedTransport.silent { start.yield() }
                var client = try await cloud.client(
                    of: try await cloud.addUser(),
                    transport: transport.over
                )
                client.clock = clock
                let container = CKContainer(client: client)
                let database = container.privateCloudDatabase
                let configuration = CKOperation.Configuration()
                configuration.timeoutIntervalForRequest = seconds
                configuration.timeoutIntervalForResource = seconds
                // A call of default urgency has no time limit of its own, and a request has a minute.
                let zones = try await database.configuredWith(configuration: configuration) {
                    try await $0.allRecordZones()
                }
                #expect(!zones.isEmpty)
                #expect(transport.requests.last?.timeout == 60)
                #expect(clock.waits.withLock { $0 } == [])
                // An operation has a week, and so has a call that waits for a busy service.
                let week = Duration.seconds(7 * 24 * 3600)
                let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
                operation.configuration = configuration
                #expect(await outcome(of: operation, on: database)?.code == .networkFailure)
                #expect(clock.waits.withLock { $0 } == [week])
                withExtendedLifetime(container) {}
            }
        }
    }

    @Test(
        "A busy service is waited for by operations that nobody waits for, and by no others",
        arguments: CloudFixture.allCases,
        [
            QualityOfService.background, .utility, .default, .userInitiated, .userInteractive,
        ]
    )
    func quality(_ fixture: CloudFixture, _ quality: QualityOfService) async throws {
        try await fixture.run { cloud in
            let waits = quality == .background || quality == .utility
            let code: CKError.Code? = waits ? nil : .requestRateLimited
            let rule = FaultRule(
                .error(.throttled, retryAfter: 7),
                operation: "records/lookup",
                call: 1
            )
            cloud.setFaults(FaultPlan(rules: [rule]))
            let clock = JumpingClock()
            var client = try await cloud.client(of: try await cloud.addUser())
            client.clock = clock
            let database = CKContainer(client: client).privateCloudDatabase
            try await database.save(CKRecord(recordType: "Note", recordID: .init(recordName: "a")))
            let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
            operation.qualityOfService = quality
            operation.configuration.timeoutIntervalForResource = .infinity
            let error = await outcome(of: operation, on: database)
            #expect(error?.code == code)
            #expect(clock.jumps == (waits ? [.seconds(7)] : []))
        }
    }

    @Test(
        "The request timeout of a configuration reaches the transport",
        arguments: CloudFixture.allCases
    )
    func requestTimeout(_ fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let transport = ScriptedTransport()
            let device = try await cloud.device(
                of: try await cloud.addUser(),
                transport: transport.over
            )
            let database = device.privateCloudDatabase
            let configuration = CKOperation.Configuration()
            configuration.timeoutIntervalForRequest = 7
            _ = try await database.configuredWith(configuration: configuration) {
                try await $0.allRecordZones()
            }
            #expect(transport.requests.last?.timeout == 7)
        }
    }
}

/// A clock on which a wait ends when something else has happened.
private final class GatedClock: Clock {
    let now = ContinuousClock.now
    let minimumResolution = Duration.zero
    let waits = Mutex<[Duration]>([])
    private let gate: AsyncStream<Void>

    init(_ gate: AsyncStream<Void>) { self.gate = gate }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        waits.withLock { $0.append(now.duration(to: deadline)) }
        for await _ in gate { return }
        try Task.checkCancellation()
    }
}

/// A clock on which a wait takes no time but advances the clock; a wait for more than 10 seconds,
/// such as for the end of a call, lasts until it is cancelled.
private final class RunningClock: Clock {
    let minimumResolution = Duration.zero
    private let start = ContinuousClock.now
    private let time = Mutex(Duration.zero)

    var waited: Duration { time.withLock { $0 } }
    var now: ContinuousClock.Instant { start.advanced(by: waited) }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        guard now.duration(to: deadline) <= .seconds(10) else {
            await untilCancelled()
            return try Task.checkCancellation()
        }
        time.withLock { $0 = start.duration(to: deadline) }
    }
}

/// Waits until the current task is cancelled.
private func untilCancelled() async {
    let (silence, end) = AsyncStream<Never>.makeStream()
    await withTaskCancellationHandler {
        for await _ in silence {}
    } onCancel: {
        end.finish()
    }
}

extension ScriptedTransport {
    /// Returns a transport that never responds to requests about records.
    fileprivate static func silent(
        _ started: @escaping @Sendable () -> Void = {}
    ) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            guard request.url.contains("/records/") else { return nil }
            started()
            await untilCancelled()
            throw TransportError(.cancelled, message: "The request was cancelled")
        }
    }
}
