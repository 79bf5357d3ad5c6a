import CloudKitWebClient
import Foundation
import Hummingbird
import Logging

/// A plain HTTP server that returns recorded responses, so that only the client is measured.
enum ReplayServer {
    /// Starts a server for recorded exchanges; it ends with the process.
    ///
    /// - Returns: Its address.
    static func start(_ exchanges: [RecordedRequests.Exchange]) async throws -> String {
        var responses: [Data: ByteBuffer] = [:]
        for exchange in exchanges {
            responses[key(exchange.request.body ?? Data())] = ByteBuffer(
                bytes: exchange.response.body
            )
        }
        let router = Router()
        let replay: @Sendable (Request, BasicRequestContext) async throws -> Response = {
            [responses] request, _ in
            let body = try await request.body.collect(upTo: 1 << 20)
            guard let response = responses[key(body.readableBytesView)] else {
                return Response(status: .notFound)
            }
            return Response(
                status: .ok,
                headers: [.contentType: "application/json; charset=UTF-8"],
                body: ResponseBody(byteBuffer: response)
            )
        }
        router.post("**", use: replay)
        router.get("**", use: replay)
        var logger = Logger(label: "replay")
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
        throw Unequal()
    }

    /// Returns a key that is independent of the order of keys in a body's objects, which varies.
    private static func key(_ body: some Sequence<UInt8>) -> Data { Data(body.sorted()) }
}
