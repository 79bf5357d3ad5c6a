import CloudKitServerCore
import Hummingbird
import NIOCore
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
        // One task, which is cancelled by whatever ends the wait: a task for each of these would take
        // several times the memory, and thousands of requests wait.
        let waiting = Task(executorPreference: service.threads) { [service] in
            await service.respond(to: asked)
        }
        let timer = context.channel.eventLoop.scheduleTask(in: TimeAmount(courierWait)) {
            waiting.cancel()
        }
        // A disconnected client must not consume a notification that its next connection should
        // receive. The connection is watched from its side because reading on would take the next
        // request from it.
        let watch = connections.whenLeft(context.channel) { waiting.cancel() }
        defer {
            timer.cancel()
            connections.endWatch(watch, of: context.channel)
        }
        // A cancelled wait still returns a response.
        return adapt(
            await withTaskCancellationOrGracefulShutdownHandler {
                await waiting.value
            } onCancelOrGracefulShutdown: {
                waiting.cancel()
            }
        )
    }
}
