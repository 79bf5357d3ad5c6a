import BenchmarkHarness
import Foundation
import Hummingbird
import Logging

/// A Hummingbird server on the loopback interface with the handlers of a floor.
enum PlainServer {
    /// Starts a server, which ends with the process, and returns its address.
    static func start(_ router: Router<BasicRequestContext>) async throws -> String {
        var logger = Logger(label: "floor")
        logger.logLevel = .critical
        let (ports, port) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
            logger: logger
        )
        // Ends with the process.
        Task { try await application.run() }
        for await port in ports { return "http://127.0.0.1:\(port)" }
        throw BenchError(description: "The plain server did not start")
    }
}

extension ServerBench {
    /// Runs work in a plain handler, which then sends a ready response of the service's size.
    ///
    /// Both sides of the figure have the same client and the same connection, whose cost differs between
    /// machines by more than the work does. The floor has no JSON, no tokens and no rules.
    ///
    /// - Parameters:
    ///   - work: The least work that the response needs.
    ///   - body: The body of the request, which the service and the handler receive.
    ///   - url: The address of the service that answers it.
    /// - Returns: The work with a request and a response.
    /// - Throws: An error of the service, or of the handler's start.
    func served(_ work: Work, _ body: Data, to url: String) async throws -> Work {
        let response = ByteBuffer(bytes: try await post(body, to: url))
        let router = Router()
        router.post("work") { request, _ in
            _ = try await request.body.collect(upTo: 1 << 20)
            try await work.body()
            return Response(
                status: .ok,
                headers: [.contentType: "application/json; charset=UTF-8"],
                body: ResponseBody(byteBuffer: response)
            )
        }
        let plain = try await PlainServer.start(router) + "/work"
        return Work(work.name + " behind a plain handler", units: work.units) {
            _ = try await post(body, to: plain)
        }
    }
}
