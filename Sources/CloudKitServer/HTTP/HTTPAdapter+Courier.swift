import CloudKitServerCore
import Hummingbird
import ServiceLifecycle

extension HTTPAdapter {
    /// Waits for a notification.
    ///
    /// The wait ends without one when the time is over, the client disconnects or the server shuts
    /// down; the response is empty then, and clients send the request again.
    func wait(_ request: Request, _ context: AdapterContext) async -> AdapterResponse {
        let asked = ServiceRequest(
            method: request.method.rawValue,
            path: request.uri.path,
            query: request.uri.query,
            baseURL: ""
        )
        let time = courierWait
        // A disconnected client must not consume a notification that its next connection should
        // receive. The connection is watched from its side because reading on would take the next
        // request from it.
        let leaving = connections.leaving(context.channel)
        return adapt(
            await cancelWhenGracefulShutdown {
                await Self.respond(within: time, unless: leaving) {
                    await service.respond(to: asked)
                }
            }
        )
    }

    /// Cancels an operation that takes longer than a time limit, or whose client has disconnected.
    ///
    /// A cancelled operation still returns a response.
    private static func respond(
        within time: Duration,
        unless leaving: AsyncStream<Void>,
        _ body: @escaping @Sendable () async -> ServiceResponse
    ) async -> ServiceResponse {
        await withTaskGroup(of: ServiceResponse?.self) { group in
            group.addTask { await body() }
            group.addTask {
                // Only a cancellation ends the wait early; another child has returned then.
                try? await Task.sleep(for: time)
                return nil
            }
            group.addTask {
                for await _ in leaving {}
                return nil
            }
            defer { group.cancelAll() }
            while let result = await group.next() {
                if let result { return result }
                group.cancelAll()
            }
            return ServiceResponse(status: 200)
        }
    }
}
