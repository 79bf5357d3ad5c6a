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
