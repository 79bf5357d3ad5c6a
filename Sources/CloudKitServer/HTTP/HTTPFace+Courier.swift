import CloudKitServerCore
import Hummingbird
import ServiceLifecycle

extension HTTPFace {
    /// Waits for a notification until there is one, the time is over, the client has gone or the
    /// server shuts down; without one the answer is empty, and clients ask again.
    func wait(_ request: Request, _ context: FaceContext) async -> FaceAnswer {
        let asked = ServiceRequest(
            method: request.method.rawValue,
            path: request.uri.path,
            query: request.uri.query,
            baseURL: ""
        )
        let time = courierWait
        // A client that has gone must not take a notification from the one that it is now. The
        // connection is watched from its side: reading on would take the next request from it.
        let leaving = connections.leaving(context.channel)
        return answer(
            await cancelWhenGracefulShutdown {
                await Self.answer(within: time, unless: leaving) {
                    await service.respond(to: asked)
                }
            }
        )
    }

    /// Cancels an answer that takes longer than a time, or that nobody waits for any more; a
    /// cancelled one is answered nevertheless.
    private static func answer(
        within time: Duration,
        unless leaving: AsyncStream<Void>,
        _ body: @escaping @Sendable () async -> ServiceResponse
    ) async -> ServiceResponse {
        await withTaskGroup(of: ServiceResponse?.self) { group in
            group.addTask { await body() }
            group.addTask {
                try? await Task.sleep(for: time)
                return nil
            }
            group.addTask {
                for await _ in leaving {}
                return nil
            }
            defer { group.cancelAll() }
            while let result = await group.next() {
                if let answer = result { return answer }
                group.cancelAll()
            }
            return ServiceResponse(status: 200)
        }
    }
}
