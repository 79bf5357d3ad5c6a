import CloudKitServerCore
import Hummingbird
import ServiceLifecycle

extension HTTPFace {
    /// Waits for a notification until there is one, the time is over, the client has gone or the
    /// server shuts down; without one the answer is empty, and clients ask again.
    func wait(_ request: Request) async -> FaceAnswer {
        let asked = ServiceRequest(
            method: request.method.rawValue,
            path: request.uri.path,
            query: request.uri.query,
            baseURL: ""
        )
        let time = courierWait
        do {
            return answer(
                // A client that has gone must not take a notification from the one that it is now.
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    await cancelWhenGracefulShutdown {
                        await Self.answer(within: time) { await service.respond(to: asked) }
                    }
                }
            )
        } catch {
            return FaceAnswer(response: Response(status: .ok))
        }
    }

    /// Cancels an answer that takes longer than a time; a cancelled one is answered nevertheless.
    private static func answer(
        within time: Duration,
        _ body: @escaping @Sendable () async -> ServiceResponse
    ) async -> ServiceResponse {
        await withTaskGroup(of: ServiceResponse?.self) { group in
            group.addTask { await body() }
            group.addTask {
                try? await Task.sleep(for: time)
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
