import AsyncHTTPClient
import CloudKit
import CloudKitExtras
import CloudKitWebClient
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Testing

/// Misbehaviour of a server or a device on the way, over sockets: each ends as expected, reveals no
/// secret, and leaves the next request alone.
@Suite("Servers that misbehave", .timeLimit(.minutes(10)))
struct MisbehavingServerTests {
    typealias Step = RawServer.Step

    /// The outcome of a call.
    enum Outcome: Equatable, Sendable {
        case success
        case transport(TransportError.Code)
        case foreign(Int)
        case refused
    }

    /// A server's response, and the outcome of the call.
    struct Response: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let steps: [Step]
        let outcome: Outcome

        init(_ name: String, _ steps: [Step], _ outcome: Outcome) {
            testDescription = name
            self.steps = steps
            self.outcome = outcome
        }
    }

    static let good = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"zones\":[]}"
    static let begin = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    private static let whole = "Content-Length: 12\r\n\r\n{\"zones\":[]}"
    private static let surplus =
        "HTTP/1.1 200 OK\r\nContent-Length: 46\r\n\r\n"
        + #"{"zones":[{"zoneID":{"zoneName":"surplus"} }]}"#

    private static func redirect(_ status: Int) -> Response {
        Response(
            "redirects with \(status)",
            [
                .text(
                    "HTTP/1.1 \(status) X\r\nLocation: http://127.0.0.1:1/?\(SecrecyTests.Secret.user)"
                        + "\r\nContent-Length: 0\r\n\r\n"
                )
            ],
            .foreign(status)
        )
    }

    static let responses =
        [
            Response("hangs up", [.close], .transport(.broken)),
            Response("hangs up in its head", [.text("HTTP/1.1 20"), .close], .transport(.broken)),
            Response(
                "hangs up in its body",
                [.text(begin + whole.dropLast(5)), .close],
                .transport(.broken)
            ),
            Response(
                "hangs up in a chunk",
                [.text(begin + "Transfer-Encoding: chunked\r\n\r\nc\r\n{\"zon"), .close],
                .transport(.broken)
            ),
            Response(
                "hangs up between chunks",
                [
                    .text(begin + "Transfer-Encoding: chunked\r\n\r\nc\r\n{\"zones\":[]}\r\n"),
                    .close,
                ],
                .transport(.broken)
            ),
            Response(
                "sends a chunk of no size",
                [.text(begin + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}")],
                .transport(.broken)
            ),
            Response(
                "sends a chunk of any size",
                [.text(begin + "Transfer-Encoding: chunked\r\n\r\n" + "fffffffffffffffff\r\n{}")],
                .transport(.broken)
            ),
            Response(
                "goes on after 100 and 103",
                [
                    .text("HTTP/1.1 100 Continue\r\n\r\n"),
                    .text("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
                    .text(begin + whole),
                ],
                .success
            ),
            Response(
                "switches to another protocol",
                [.text("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nx")],
                .foreign(101)
            ),
            Response(
                "says two lengths",
                [.text(begin + "Content-Length: 2\r\n" + whole)],
                .transport(.broken)
            ),
            Response(
                "says a length and sends chunks",
                [.text(begin + "Transfer-Encoding: chunked\r\n" + whole)],
                .transport(.broken)
            ),
            Response(
                "says a length below zero",
                [.text(begin + "Content-Length: -1\r\n\r\n{}")],
                .transport(.broken)
            ),
            Response(
                "says nothing, and has a body",
                [.text("HTTP/1.1 204 No Content\r\n" + whole)],
                .foreign(204)
            ),
            Response(
                "speaks HTTP/1.0 and ends with the connection",
                [.text("HTTP/1.0 200 OK\r\n\r\n{\"zones\":[]}"), .close],
                .success
            ),
            Response(
                "ends with the connection",
                [.text(begin + "\r\n{\"zones\":[]}"), .close],
                .success
            ),
            Response(
                "ends with the connection in the middle",
                [.text(begin + "\r\n{\"zones\":["), .close],
                .foreign(200)
            ),
            Response("speaks another protocol", [.text("SSH-2.0-x\r\n")], .transport(.broken)),
            Response(
                "sends a head without an end",
                [.text(begin + "X: " + String(repeating: "x", count: 1 << 20))],
                .transport(.broken)
            ),
            Response(
                "compresses nothing",
                [.text(begin + "Content-Encoding: gzip\r\n" + whole)],
                .transport(.broken)
            ),
            Response(
                "cuts what it compresses",
                [
                    .text(begin + "Content-Encoding: gzip\r\nContent-Length: 100\r\n\r\n"),
                    .send(bomb(100)),
                ],
                .transport(.broken)
            ),
            Response("sends a response too many", [.text(begin + whole + surplus)], .success),
        ] + [301, 302, 303, 307, 308].map(redirect)

    func client(_ port: Int, https: Bool = false, _ transport: HTTPTransport) -> WebClient {
        WebClient(
            url: "\(https ? "https" : "http")://127.0.0.1:\(port)",
            container: "c",
            environment: .development,
            credentials: WebCredentials(
                apiToken: SecrecyTests.Secret.api,
                webAuthToken: SecrecyTests.Secret.user
            ),
            transport: transport
        )
    }

    /// Returns the outcome of a call, whose error contains no secret.
    func outcome(
        of call: () async throws(WebClientError) -> some Any,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> Outcome {
        do {
            _ = try await call()
            return .success
        } catch {
            SecrecyTests.expectSilence(
                of: SecrecyTests.texts(of: error),
                sourceLocation: sourceLocation
            )
            switch error {
            case .transport(let failure): return .transport(failure.code)
            case .unexpectedResponse(let status, _, _): return .foreign(status)
            default: return .refused
            }
        }
    }

    @Test(
        "A strange response is a response or an error, and the next one is the next request's",
        arguments: responses
    )
    func response(_ response: Response) async throws {
        try await RawServer.run { index in
            index == 0 ? response.steps : [.text(Self.good)]
        } _: { port, server in
            let client = client(port, HTTPTransport())
            let found = await outcome { () async throws(WebClientError) in
                try await client.listZones(in: .private)
            }
            #expect(found == response.outcome)
            let next = try await client.listZones(in: .private)
            #expect(next.zones.isEmpty)
            #expect(server.requests.count == 2)
        }
    }

    @Test(
        "Silence ends a call after its time, wherever it begins",
        arguments: [0, 1, 20, 70, 71, 75]
    )
    func silence(after bytes: Int) async throws {
        let response = Self.begin + Self.whole
        try await RawServer.run { _ in
            [.text(String(response.prefix(bytes)))]
        } _: { port, _ in
            var client = client(port, HTTPTransport())
            client.timeout = 0.2
            let found = await outcome { () async throws(WebClientError) in
                try await client.listZones(in: .private)
            }
            #expect(found == .transport(.timedOut))
        }
    }

    @Test("A server that reads nothing is given up, however much there is to send")
    func unread() async throws {
        try await RawServer.run(reads: false) { _ in
            []
        } _: { port, _ in
            let url = "http://127.0.0.1:\(port)/x"
            let body = Data(count: 16 << 20)
            let error = await #expect(throws: TransportError.self) {
                _ = try await HTTPTransport().send(
                    TransportRequest(method: "POST", url: url, body: body, timeout: 0.2)
                )
            }
            #expect(error?.code == .timedOut)
        }
    }

    @Test("A server that sends byte by byte is waited for; its whole time has a limit of its own")
    func slow() async throws {
        let response = Array((Self.begin + "Content-Length: 212\r\n\r\n{\"zones\":[]}").utf8)
        let spaces = [UInt8](repeating: 32, count: 200)
        try await RawServer.run { index in
            [.send(response), .drip(spaces, .milliseconds(index == 0 ? 10 : 50))]
        } _: { port, server in
            var client = client(port, HTTPTransport())
            client.timeout = 1
            _ = try await client.listZones(in: .private)
            let database = CKContainer(client: client).privateCloudDatabase
            let configuration = CKOperation.Configuration()
            configuration.timeoutIntervalForRequest = 2
            configuration.timeoutIntervalForResource = 0.5
            let error = await #expect(throws: CKError.self) {
                try await database.configuredWith(configuration: configuration) { database in
                    try await database.allRecordZones()
                }
            }
            #expect(error?.code == .networkFailure)
            #expect(server.requests.count == 2)
        }
    }
}
