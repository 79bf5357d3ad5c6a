import CloudKitBasics
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

/// A local URL that receives the token of the signed-in user from a browser.
///
/// Its path is random, so that a page cannot send a token of its own.
struct SignInCallback {
    private let path: String
    private let tokens = AsyncStream<String>.makeStream()
    private let ports = AsyncStream<Int>.makeStream()

    init() {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        path = "/signed-in/" + Hexadecimal.text(bytes)
    }

    /// Listens, passes on the URL, and waits for the token.
    ///
    /// - Parameters:
    ///   - seconds: The time to wait.
    ///   - tell: A closure that receives the URL.
    /// - Returns: The token; nil when none arrived in time.
    /// - Throws: An error when the address cannot be bound.
    func token(
        within seconds: Int,
        _ tell: @escaping @Sendable (String) throws -> Void
    ) async throws -> String? {
        let service = service
        async let end: Void = {
            defer {
                ports.continuation.finish()
                tokens.continuation.finish()
            }
            try await service.run()
        }()
        let token = try await firstToken(within: seconds, tell)
        // Not cancelled, because the browser waits for its response.
        await service.triggerGracefulShutdown()
        guard let token else {
            try await end
            return nil
        }
        // The sign-in succeeded, however its server ended.
        try? await end
        return token
    }

    private func firstToken(
        within seconds: Int,
        _ tell: @escaping @Sendable (String) throws -> Void
    ) async throws -> String? {
        try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask { [tokens, ports, path] in
                for await port in ports.stream {
                    try tell("http://127.0.0.1:\(port)\(path)")
                    for await token in tokens.stream { return token }
                }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private var service: ServiceGroup {
        var configuration = ServiceGroupConfiguration(services: [application], logger: logger)
        // A client that does not read the response is not waited for.
        configuration.maximumGracefulShutdownDuration = .seconds(2)
        return ServiceGroup(configuration: configuration)
    }

    private var logger: Logger {
        var logger = Logger(label: "cloudkit")
        logger.logLevel = .error
        return logger
    }

    private var application: some ApplicationProtocol {
        let (path, tokens) = (path, tokens.continuation)
        return Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in
                let token = request.uri.queryParameters["ckWebAuthToken"].map(String.init)
                guard request.method == .get, request.uri.path == path, let token else {
                    return Response(status: .notFound)
                }
                tokens.yield(token)
                return Self.page
            },
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { [ports] channel in
                ports.continuation.yield(channel.localAddress?.port ?? 0)
            },
            logger: logger
        )
    }

    private static var page: Response {
        let text = """
            <!doctype html>
            <html lang="en">
            <head><meta charset="utf-8"><title>Signed in – CloudKit</title></head>
            <body><h1>Signed in</h1><p>You can close this window.</p></body>
            </html>
            """
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=UTF-8", .cacheControl: "no-store",
                .connection: "close",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}
