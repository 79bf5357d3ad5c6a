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
        "An operation that is cancelled while it waits for the server ends with operationCancelled"
    )
    func cancellation() async throws {
        let cloud = try await TestCloud()
        let (started, start) = AsyncStream<Void>.makeStream()
        let device = try await cloud.device(
            of: try await cloud.addUser("Ada"),
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

    @Test("An operation that takes longer than its resource timeout ends with networkFailure")
    func timeout() async throws {
        let cloud = try await TestCloud()
        let device = try await cloud.device(
            of: try await cloud.addUser("Ada"),
            transport: ScriptedTransport.silent().over
        )
        let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
        operation.configuration.timeoutIntervalForResource = 0.02
        let error = await outcome(of: operation, on: device.privateCloudDatabase)
        #expect(error?.code == .networkFailure)
        #expect(error?.localizedDescription.contains("timeoutIntervalForResource") ?? false)
    }

    @Test("The request timeout of a configuration reaches the transport")
    func requestTimeout() async throws {
        let cloud = try await TestCloud()
        let transport = ScriptedTransport()
        let device = try await cloud.device(
            of: try await cloud.addUser("Ada"),
            transport: transport.over
        )
        let configuration = CKOperation.Configuration()
        configuration.timeoutIntervalForRequest = 7
        _ = try await device.privateCloudDatabase.configuredWith(configuration: configuration) {
            try await $0.allRecordZones()
        }
        #expect(transport.requests.last?.timeout == 7)
    }
}

extension ScriptedTransport {
    /// Never answers requests about records.
    fileprivate static func silent(
        _ started: @escaping @Sendable () -> Void = {}
    ) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            guard request.url.contains("/records/") else { return nil }
            let (silence, end) = AsyncStream<Never>.makeStream()
            started()
            await withTaskCancellationHandler {
                for await _ in silence {}
            } onCancel: {
                end.finish()
            }
            throw TransportError(.cancelled, message: "The request was cancelled")
        }
    }
}
