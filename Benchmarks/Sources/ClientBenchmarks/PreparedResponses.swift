import CloudKit
import CloudKitExtras
import CloudKitWebClient
import Foundation
import Synchronization

/// A service that responds immediately or on demand, with the caller's name and no record.
final class PreparedResponses: Transport {
    private struct State {
        var isHolding: Bool
        var held: [CheckedContinuation<Void, Never>] = []
        var whenFull: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state: Mutex<State>

    /// Creates a service; one that holds keeps all requests until `release()`.
    init(holds: Bool = false) {
        state = Mutex(State(isHolding: holds))
    }

    /// The database of a container of this service.
    var database: CKDatabase {
        CKContainer(
            client: WebClient(
                url: "http://cloud.invalid",
                container: "iCloud.bench",
                environment: .development,
                credentials: WebCredentials(apiToken: "a", webAuthToken: "u"),
                transport: self
            )
        ).privateCloudDatabase
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if request.url.contains("users/caller") {
            return TransportResponse(status: 200, body: Data(#"{"userRecordName":"_1"}"#.utf8))
        }
        await hold()
        return TransportResponse(
            status: 200,
            body: Data(
                #"""
                {"records":[{"recordName":"n","reason":"none","serverErrorCode":"NOT_FOUND"}]}
                """#.utf8
            )
        )
    }

    private func hold() async {
        await withCheckedContinuation { continuation in
            let (isFree, full) = state.withLock { state in
                guard state.isHolding else {
                    return (true, CheckedContinuation<Void, Never>?.none)
                }
                state.held.append(continuation)
                guard let full = state.whenFull, state.held.count >= full.count else {
                    return (false, nil)
                }
                state.whenFull = nil
                return (false, full.continuation)
            }
            if isFree { continuation.resume() }
            full?.resume()
        }
    }

    /// Waits until a number of requests are held.
    func wait(for count: Int) async {
        await withCheckedContinuation { continuation in
            let isFull = state.withLock { state in
                if state.held.count < count { state.whenFull = (count, continuation) }
                return state.held.count >= count
            }
            if isFull { continuation.resume() }
        }
    }

    /// Responds to all held requests, and to further ones immediately.
    func release() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        throw TransportError(.unreachable, message: "No files here")
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        throw TransportError(.unreachable, message: "No files here")
    }
}

/// Returns an operation that fetches one record.
func makeOperation(_ done: @escaping @Sendable () -> Void) -> CKFetchRecordsOperation {
    let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "n")])
    operation.fetchRecordsResultBlock = { _ in done() }
    return operation
}
