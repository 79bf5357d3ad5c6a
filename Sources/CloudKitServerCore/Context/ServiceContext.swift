import CloudKitWire

/// The parts of a service that its endpoints and the functions for operators share: the seams to the
/// outside, and the state that is kept in memory between requests.
///
/// It is a class because every request passes it on several times: that counts one reference, not one
/// for each part. Nothing in it is replaced, and parts that change protect themselves.
final class ServiceContext: Sendable {
    let storage: any Storage
    let assets: any AssetStorage
    let configuration: ServiceConfiguration
    let clock: any ServiceClock
    let randomness: any ServiceRandomness
    let schemas = SchemaCache()
    let callers = CallerCache()
    let devices = DeviceDirectory()
    let faults = FaultControl()
    let pushes: PushHub
    let writerTurns: WriterTurns
    private let key: TokenKey
    private let watch: ForeignChangeWatch?

    init(
        storage: any Storage,
        assets: any AssetStorage,
        configuration: ServiceConfiguration,
        clock: any ServiceClock,
        randomness: any ServiceRandomness
    ) {
        self.storage = storage
        self.assets = assets
        self.configuration = configuration
        self.clock = clock
        self.randomness = randomness
        pushes = PushHub(storage)
        writerTurns = WriterTurns(clock)
        key = TokenKey(storage, randomness)
        watch = ForeignChangeWatch(storage, pushes, callers)
    }

    /// The builder of responses.
    var responses: ResponseBuilder { ResponseBuilder(randomness: randomness) }

    /// Returns the seal of all tokens.
    func seal() async throws -> TokenSeal { try await key.seal() }

    /// Returns the URLs and receipts for one request.
    func links(_ baseURL: String, now: Int64) async throws -> AssetLinks {
        AssetLinks(
            seal: try await seal(),
            baseURL: baseURL,
            now: now,
            downloadSeconds: configuration.downloadSeconds,
            storage: assets
        )
    }

    /// Returns the URLs and receipts for a call.
    func links(for call: Call) async throws -> AssetLinks {
        try await links(call.request.baseURL, now: call.now)
    }

    /// Returns the work of a request that the service makes itself.
    func ownWork() -> RequestWork { RequestWork(configuration.budget, clock) }

    /// Looks for damage in the storage for a limited time; returns a description for the operator,
    /// or nil if there is none.
    func damage(foundWithin limit: Duration) async -> String? {
        await storage.lookForDamage(within: limit)
        return storage.damage
    }
}
