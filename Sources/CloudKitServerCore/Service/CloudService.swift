#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import CloudKitWire
import Synchronization

/// CloudKit Web Services without HTTP and without SQL: receives requests and returns responses.
///
/// ```swift
/// let service = CloudService(
///     storage: try SQLiteStorage(path: nil),
///     assets: try FileAssetStorage.temporary(),
///     clock: SystemClock(),
///     randomness: SystemRandomness()
/// )
/// let token = try await service.addAPIToken(
///     container: "iCloud.com.example.app",
///     environment: .development
/// )
/// ```
///
/// All rules of the service are in this class; engines only store data. Any number of services may
/// work on one storage.
public final class CloudService: Sendable {
    let storage: any Storage
    let assets: any AssetStorage
    let configuration: ServiceConfiguration
    let clock: any ServiceClock
    let randomness: any ServiceRandomness
    let schemas = SchemaCache()
    let rotation = TokenRotation()
    let callers = CallerCache()
    let signInTries = SignInTries()
    let uploads = UploadLedger()
    let devices = DeviceDirectory()
    let pushJournal = PushJournal()
    /// Half of the engine's connections, and fewer than its threads.
    let lane = SlowLane(width: 8, line: 1000)
    let writerTurns: WriterTurns
    let faults = Mutex<FaultScript?>(nil)
    let waiters: PushWaiters
    let lastForeignChange = Mutex<Int64?>(nil)
    let throttle: RequestThrottle?
    private let sealCache = Mutex<TokenSeal?>(nil)

    /// Creates a service on a storage; it reads nothing before the first request.
    public init(
        storage: any Storage,
        assets: any AssetStorage,
        configuration: ServiceConfiguration = ServiceConfiguration(),
        clock: any ServiceClock,
        randomness: any ServiceRandomness
    ) {
        self.storage = storage
        self.assets = assets
        self.configuration = configuration
        self.clock = clock
        self.randomness = randomness
        writerTurns = WriterTurns(clock)
        waiters = PushWaiters.shared(of: storage)
        throttle = configuration.requestRate.map(RequestThrottle.init)
    }

    /// The executor of requests; `nil` if it does not matter.
    package var threads: (any TaskExecutor)? { storage.threads }

    /// `true` when requests create the containers that they name.
    package var opensContainers: Bool { configuration.opensContainers }

    /// Returns why requests cannot be served reliably; nil if they can.
    package func unreadiness() async -> String? {
        guard (try? await storage.read { _ = try $0.setting("tokenKey") }) != nil else {
            return "The storage cannot be read"
        }
        return storage.damage == nil
            ? nil
            : "The database is damaged, so the server refuses writes; run cloudkit check --repair, "
                + "and start the server again"
    }

    /// Looks for damage in the storage for a limited time; returns a description for the operator,
    /// or nil if there is none.
    package func damage(foundWithin limit: Duration) async -> String? {
        await storage.lookForDamage(within: limit)
        return storage.damage
    }

    /// The last notifications that users of a container were to get, oldest first.
    ///
    /// 200 are kept in memory, of all containers together, since the service began.
    public func pushes(container: String) -> [PushEntry] { pushJournal.entries(of: container) }

    /// Wakes the requests that wait for a commit's notifications, and keeps these for operators.
    func announce(_ news: PushNews) {
        waiters.wake(news.queues)
        pushJournal.add(news.entries)
    }

    /// Returns the response to a request that is refused before it reaches the service.
    package func refusal(_ error: any Error) -> ServiceResponse { failure(error) }

    /// Returns the seal of all tokens; its key is created on first use and kept in the storage.
    func seal() async throws -> TokenSeal {
        if let seal = sealCache.withLock({ $0 }) { return seal }
        let name = "tokenKey"
        let fresh = Data(randomness.bytes(32))
        let stored = try await storage.read { try $0.setting(name) }
        let key =
            if let stored {
                stored
            } else {
                try await storage.write { writer in
                    if let stored = try writer.setting(name) { return stored }
                    try writer.setSetting(name, fresh)
                    return fresh
                }
            }
        let seal = TokenSeal(key: key)
        sealCache.withLock { $0 = seal }
        return seal
    }

    /// Returns a response with status 200.
    func ok(_ body: Data) -> ServiceResponse {
        ServiceResponse(status: 200, headers: headers(id: randomness.uuid()), body: body)
    }

    /// Returns the response for an error.
    func failure(_ failure: any Error) -> ServiceResponse {
        var error = Self.requestError(for: failure)
        let id = randomness.uuid().lowercased()
        error.uuid = id
        var writer = JSONWriter()
        writer.requestError(error)
        var response = ServiceResponse(
            status: error.serverErrorCode.httpStatus,
            headers: headers(id: id),
            body: writer.data
        )
        if let seconds = error.retryAfter, (0...1e9).contains(seconds) {
            response.headers.append(("Retry-After", "\(Int(seconds.rounded(.up)))"))
        }
        response.cause = Self.cause(of: failure)
        return response
    }

    /// Returns the cause of an error for operators, which clients do not receive.
    private static func cause(of error: any Error) -> String? {
        switch error {
        case is RequestError, is CancellationError: nil
        case is StorageError, is MissingAsset: damage(error)
        case let error as UnreadableAsset: damage(error.error)
        default: String(describing: type(of: error))
        }
    }

    /// Returns the cause, for operators, of an error that ended the bytes of an asset; nil if their
    /// reader caused it.
    package static func damage(_ error: any Error) -> String? {
        switch error {
        // The damage itself was logged when it was noticed.
        case let error as StorageError where error.code == .damaged: nil
        case let error as StorageError: "\(error.code): \(error.message)"
        case let error as MissingAsset: "corrupt: \(error)"
        default: nil
        }
    }

    private func headers(id: String) -> [(name: String, value: String)] {
        [
            ("Content-Type", "application/json; charset=UTF-8"),
            ("X-Apple-Request-UUID", id),
            ("X-Apple-CloudKit-Version", "1.0"),
            (WireExtensions.header, WireExtensions.value),
        ]
    }

    /// Returns the error that a client receives; details of the storage are only in the log.
    static func requestError(for error: any Error) -> RequestError {
        switch error {
        case let error as RequestError: error
        case let error as MissingAsset: RequestError(.notFound, reason: error.description)
        case is UnreadableAsset:
            RequestError(.internalError, reason: "The server failed to read the asset")
        case let error as StorageError where error.code == .busy:
            RequestError(
                .tryAgainLater,
                reason: "The storage is busy; nothing was changed",
                retryAfter: 1
            )
        case let error as StorageError where error.code == .full:
            RequestError(
                .tryAgainLater,
                reason: "The server's disk is full; nothing was changed",
                retryAfter: 60
            )
        case let error as StorageError where error.code == .damaged:
            RequestError(
                .tryAgainLater,
                reason: "The server's database is damaged, so nothing is written; its "
                    + "operator runs cloudkit check --repair and starts it again"
            )
        case is CancellationError:
            RequestError(.tryAgainLater, reason: "The request was cancelled", retryAfter: 1)
        default: RequestError(.internalError, reason: "The server failed; nothing was changed")
        }
    }
}
