#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import CloudKitWire

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
/// It owns the parts of the service, and leads every call to the one that is responsible for it. The
/// rules are in those parts; engines only store data. Any number of services may work on one storage.
public final class CloudService: Sendable {
    let context: ServiceContext
    let signIns: AccountSignIn
    private let router: RequestRouter
    private let reception: AssetReception
    private let readCheck: ReadCheck

    /// Creates a service on a storage; it reads nothing before the first request.
    public init(
        storage: any Storage,
        assets: any AssetStorage,
        configuration: ServiceConfiguration = ServiceConfiguration(),
        clock: any ServiceClock,
        randomness: any ServiceRandomness
    ) {
        context = ServiceContext(
            storage: storage,
            assets: assets,
            configuration: configuration,
            clock: clock,
            randomness: randomness
        )
        signIns = AccountSignIn(context: context)
        router = RequestRouter(context: context)
        reception = AssetReception(context: context)
        readCheck = ReadCheck(storage)
    }

    /// The executor of requests; `nil` if it does not matter.
    package var threads: (any TaskExecutor)? { context.storage.threads }

    /// `true` when requests create the containers that they name.
    package var opensContainers: Bool { context.configuration.opensContainers }

    /// Returns why requests cannot be served reliably; nil if they can.
    package func unreadiness() async -> String? {
        guard await readCheck.canRead() else { return "The storage cannot be read" }
        return context.storage.damage == nil
            ? nil
            : "The database is damaged, so the server refuses writes; run cloudkit check --repair, "
                + "and start the server again"
    }

    /// Looks for damage in the storage for a limited time; returns a description for the operator,
    /// or nil if there is none.
    package func damage(foundWithin limit: Duration) async -> String? {
        await context.damage(foundWithin: limit)
    }

    /// Responds to a request; asset bytes use `receiveAsset` and `openAsset` instead.
    ///
    /// This method never throws: a failure is a response with CloudKit's error code, status and reason.
    public func respond(to request: ServiceRequest) async -> ServiceResponse {
        await router.respond(to: request)
    }

    /// Refuses a request with an invalid path or invalid credentials before its body is read.
    ///
    /// Nothing is counted and no token is used up because the caller is looked up again when the
    /// request is complete. A key's signature covers the body; here only the key itself is checked.
    ///
    /// - Parameter request: The request without its body.
    /// - Returns: The response to a path that takes no body, or the parsed head if the body is needed.
    /// - Throws: `RequestError`, the same as `respond(to:)`.
    package func precheck(_ request: ServiceRequest) async throws -> HeadOutcome {
        try await router.precheck(request)
    }

    /// Responds to a request whose head `precheck` admitted.
    package func respond(
        to request: ServiceRequest,
        admittedAs admission: Admission
    ) async -> ServiceResponse {
        await router.respond(to: request, admittedAs: admission)
    }

    /// Returns the response to a request that is refused before it reaches the service.
    package func refusal(_ error: any Error) -> ServiceResponse { context.responses.failure(error) }

    /// Receives the bytes posted to an upload URL, once.
    ///
    /// - Parameters:
    ///   - token: The token of `AssetRoute.upload`.
    ///   - body: The bytes, received piece by piece; at most the limit is kept in memory or on disk.
    ///   - length: The announced number of bytes, so that too many are refused before any are
    ///     received; `nil` if it is unknown.
    /// - Returns: The response, with the receipt to which a record's field is set.
    public func receiveAsset<Body: AsyncSequence & Sendable>(
        token: String,
        body: Body,
        length: Int? = nil
    ) async -> ServiceResponse where Body.Element == Data {
        await reception.receive(token: token, body: body, length: length)
    }

    /// Opens the bytes behind a download URL.
    ///
    /// - Parameter token: The token of `AssetRoute.download`.
    /// - Returns: The bytes, which are read as they are requested.
    /// - Throws: `RequestError` with `NOT_FOUND` for a token that this service did not create or
    ///   that has expired, and for a missing file.
    @concurrent
    public func openAsset(token: String) async throws(RequestError) -> AssetContents {
        do {
            return try await asset(token: token)
        } catch {
            throw ResponseBuilder.requestError(for: error)
        }
    }

    /// Opens the bytes behind a download URL; its errors also contain the cause for operators,
    /// which `refusal` reads.
    @concurrent
    package func asset(token: String) async throws -> AssetContents {
        try await AssetDelivery(context: context).open(token)
    }

    /// Returns the cause, for operators, of an error that ended the bytes of an asset; nil if their
    /// reader caused it.
    package static func damage(_ error: any Error) -> String? { ResponseBuilder.damage(error) }

    /// The number of requests that currently wait for a notification.
    package var waitingRequests: Int { context.pushes.waiters.count }

    /// Returns the storage's numbers for operators.
    package func storageMetrics() async -> [StorageMetric] { await context.storage.metrics() }

    /// Returns the notifications that wait for a token, oldest first.
    package func notifications(waitingFor token: String) async throws -> [Data] {
        let queue = SecretHash.of(token)
        return try await context.storage.read {
            try $0.pushes(queue, limit: PushCommit.queueLimit).map(\.body)
        }
    }

    /// Wakes the waiting requests if another process has written to the storage.
    ///
    /// A server on a storage that other processes use too calls this several times a second;
    /// without waiting requests, it does nothing.
    ///
    /// - Throws: `StorageError`.
    public func wakeAfterExternalChanges() async throws {
        try await context.pushes.wakeAfterExternalChanges()
    }

    /// The last notifications that users of a container were to get, oldest first.
    ///
    /// 200 are kept in memory, of all containers together, since the service began.
    public func pushes(container: String) -> [PushEntry] {
        context.pushes.entries(of: container)
    }

    /// Starts a fault plan from its beginning; `nil` ends the current plan.
    public func setFaults(_ plan: FaultPlan?) {
        context.faults.set(plan)
    }

    /// Adds the rules of a plan to the current one, whose rules keep their counts; the plan's seed
    /// counts when it is the first.
    package func addFaults(_ plan: FaultPlan) {
        context.faults.add(plan)
    }

    /// Removes a rule of the current plan; the others keep their counts.
    ///
    /// - Returns: `false` when there is no such rule.
    package func removeFault(at index: Int) -> Bool {
        context.faults.removeRule(at: index)
    }

    /// The current fault plan, if there is one.
    public var faultPlan: FaultPlan? { context.faults.plan }

    /// The number of matching requests and of faults for each rule of the plan, in the order of the
    /// rules.
    public var faultCounts: [FaultCount] {
        context.faults.counts.map { FaultCount(fitting: $0.fitting, taken: $0.taken) }
    }

    /// Removes unusable data, and completes copies whose clients no longer request their status.
    ///
    /// It removes expired credentials, tombstones of records that were deleted long ago, archives
    /// whose links have expired, copies that ended long ago, uploads that no record took over
    /// within half an hour, and assets that no record holds and that no receipt or link refers to.
    /// A server calls this every few minutes; it may run alongside requests.
    ///
    /// - Throws: `StorageError`.
    @concurrent
    public func clean() async throws {
        try await Cleaning(context: context).run()
    }

    /// Updates the index keys of a database that an older version wrote.
    ///
    /// It works in small commits and may run alongside requests, whose results stay correct but
    /// take longer. It does nothing if all keys are current; if interrupted, it starts again.
    ///
    /// - Throws: `StorageError`, or `CancellationError`.
    @concurrent
    public func updateIndexes() async throws {
        try await IndexRenewal(context: context).run()
    }

    /// Checks that all rows, index entries, references and files match their checksums, the schema
    /// and each other.
    ///
    /// It may run alongside requests; each zone is checked in the state of a single moment.
    ///
    /// - Parameter repairs: `true` to derive data from the records again where it is wrong.
    /// - Returns: The extent and the results of the check.
    /// - Throws: `StorageError` when the storage cannot be read at all.
    @concurrent
    package func check(repairs: Bool = false) async throws -> CheckReport {
        try await StorageCheck(context: context).run(repairs: repairs)
    }
}
