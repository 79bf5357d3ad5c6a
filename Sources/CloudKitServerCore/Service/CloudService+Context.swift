// The parts of the context, for the functions of this class that are not values of their own yet.
extension CloudService {
    var storage: any Storage { context.storage }
    var assets: any AssetStorage { context.assets }
    var configuration: ServiceConfiguration { context.configuration }
    var clock: any ServiceClock { context.clock }
    var randomness: any ServiceRandomness { context.randomness }
    var callers: CallerCache { context.callers }

    func announce(_ news: PushNews) { context.pushes.announce(news) }

    func seal() async throws -> TokenSeal { try await context.seal() }
}
