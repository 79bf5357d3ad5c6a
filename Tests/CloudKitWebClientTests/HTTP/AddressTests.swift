import CloudKitWebClient
import Foundation
import Support
import Testing

@Suite("Addresses and settings")
struct AddressTests {
    /// Addresses to which nothing can be sent, and the reasons in the errors.
    private static let bad: [(url: String, reason: String)] = [
        ("127.0.0.1:8080", "no scheme"), ("//example.com", "no scheme"),
        ("ftp://example.com", "http"),
        ("http://", "no host"), ("http://exa mple.com", "not a URL"),
        ("http://127.0.0.1:91000", "port is 91000"), ("http://127.0.0.1:0", "port is 0"),
        ("http://127.0.0.1:http", "not a URL"), ("http://127.0.0.1:-1", "not a URL"),
        ("http://ada:topsecret@example.com", "password"),
        ("http://example.com?x=topsecret", "query"),
        ("https://[::1", "not a URL"),
    ]

    @Test("An address that cannot be used is refused where it is read, with the variable's name")
    func variables() {
        for (url, reason) in Self.bad {
            let variables = ConnectionVariables(["CLOUDKIT_API_TOKEN": "a", "CLOUDKIT_URL": url])
            let error = #expect(throws: ConnectionVariables.Incomplete.self, "\(url)") {
                try variables.client(container: "c")
            }
            let text = error?.description ?? ""
            #expect(text.hasPrefix("CLOUDKIT_URL cannot be used: "), "\(text)")
            #expect(text.contains(reason), "\(url): \(text)")
            #expect(!text.contains("topsecret"))
        }
    }

    @Test("An address that cannot be used fails each call, and never the process")
    func code() async {
        for (url, reason) in Self.bad {
            let client = WebClient(
                url: url,
                container: "c",
                environment: .development,
                credentials: WebCredentials(apiToken: "a", webAuthToken: "u")
            )
            let error = await #expect(throws: WebClientError.self) { try await client.caller() }
            guard case .transport(let failure) = error else {
                Issue.record("\(url): \(String(describing: error))")
                continue
            }
            #expect(failure.code == .badAddress, "\(url): \(failure)")
            #expect(failure.message.contains(reason), "\(url): \(failure)")
        }
    }

    @Test(
        "A link of the service to which nothing can be sent is an error, and never the process's end"
    )
    func links() async {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        for url in ["", "nowhere", "http://127.0.0.1:91000/x", "http:///x", "file:///etc/passwd"] {
            let error = await #expect(throws: TransportError.self, "\(url)") {
                try await HTTPTransport().download(url, to: file, progress: { _ in })
            }
            #expect(error?.code == .badAddress, "\(url): \(String(describing: error))")
        }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("Addresses that can be used are taken as they are, with or without a slash")
    func good() throws {
        for url in ["http://127.0.0.1:8080", "HTTPS://example.com/", "http://[::1]:80/cloud"] {
            let client = try ConnectionVariables([
                "CLOUDKIT_API_TOKEN": "a", "CLOUDKIT_URL": url,
            ]).client(container: "c")
            #expect(client.url == (url.hasSuffix("/") ? String(url.dropLast()) : url))
        }
    }

    @Test("An empty variable is not set")
    func empty() throws {
        let client = try ConnectionVariables([
            "CLOUDKIT_URL": "", "CLOUDKIT_CONTAINER": "c", "CLOUDKIT_ENVIRONMENT": "",
            "CLOUDKIT_API_TOKEN": "a", "CLOUDKIT_WEB_AUTH_TOKEN": "", "CLOUDKIT_KEY_ID": "",
            "CLOUDKIT_WEB_AUTH_TOKEN_FILE": "", "CLOUDKIT_PRIVATE_KEY_FILE": "",
        ]).client()
        #expect(client.url == WebClient.appleURL)
        #expect(client.environment == .development)
        #expect(client.credentials.webAuthToken == nil)
        #expect(client.credentials.serverKey == nil)
    }

    /// Settings that are refused, and words of the errors.
    private static let refused: [(variables: [String: String], words: [String])] = [
        (
            [
                "CLOUDKIT_KEY_ID": "k", "CLOUDKIT_PRIVATE_KEY_FILE": "/k",
                "CLOUDKIT_API_TOKEN": "topsecret", "CLOUDKIT_WEB_AUTH_TOKEN": "topsecret",
            ],
            ["CLOUDKIT_KEY_ID", "CLOUDKIT_API_TOKEN, CLOUDKIT_WEB_AUTH_TOKEN", "leave one"]
        ),
        (["CLOUDKIT_PRIVATE_KEY_FILE": "/k"], ["CLOUDKIT_API_TOKEN", "CLOUDKIT_KEY_ID"]),
        (
            ["CLOUDKIT_API_TOKEN": "a", "CLOUDKIT_WEB_AUTH_TOKEN_FILE": "/nowhere/token"],
            ["CLOUDKIT_WEB_AUTH_TOKEN_FILE is /nowhere/token", "/nowhere is not there"]
        ),
        (
            ["CLOUDKIT_API_TOKEN": "a", "CLOUDKIT_WEB_AUTH_TOKEN_FILE": "/"],
            ["CLOUDKIT_WEB_AUTH_TOKEN_FILE is /,", "cannot be read"]
        ),
    ]

    @Test("A key beside tokens is refused, and so is a file in which no token can be kept")
    func refusals() {
        for (variables, words) in Self.refused {
            let error = #expect(throws: ConnectionVariables.Incomplete.self) {
                try ConnectionVariables(variables).client(container: "c")
            }
            let text = error?.description ?? ""
            for word in words { #expect(text.contains(word), "\(text)") }
            #expect(!text.contains("topsecret"))
        }
    }

    /// Responses of a proxy: the status, the field with the time, and the resulting delay.
    private static let busy: [(status: Int, field: String?, wait: Duration)] = [
        (429, "7", .seconds(7)), (503, "7", .seconds(7)), (503, " 2.5 ", .seconds(2.5)),
        (429, "86400", .seconds(3600)), (503, "1e300", .seconds(3600)), (429, "-5", .seconds(1)),
        (503, "0", .seconds(1)),
        (503, "Thu, 01 Jan 1970 00:00:00 GMT", .seconds(1)),
        (429, "Fri, 31 Dec 9999 23:59:59 GMT", .seconds(3600)), (503, "soon", .seconds(1)),
        (429, nil, .seconds(1)), (503, "nan", .seconds(1)),
    ]

    @Test("What a proxy says of when to come back is heeded, for 429 as for 503, up to an hour")
    func retryAfter() async throws {
        for (status, field, wait) in Self.busy {
            let clock = JumpingClock()
            let headers = field.map { ["retry-after": $0] } ?? [:]
            var client = WebClient(
                url: "http://cloud.invalid",
                container: "c",
                environment: .development,
                credentials: WebCredentials(apiToken: "a"),
                transport: ScriptedTransport { _, index in
                    index > 0
                        ? .ok(#"{"records":[],"zones":[]}"#)
                        : TransportResponse(
                            status: status,
                            headers: headers,
                            body: Data("busy".utf8)
                        )
                }
            )
            client.retryPolicy = .patient
            client.clock = clock
            // The request was not carried out: even a change is sent again.
            _ = try await client.modifyZones(.init(operations: []), in: .private)
            #expect(clock.jumps == [wait], "\(status) \(field ?? "-")")
            client.retryPolicy = .never
            client.transport = ScriptedTransport { _, _ in
                TransportResponse(status: status, headers: headers, body: Data("busy".utf8))
            }
            let error = await #expect(throws: WebClientError.self) {
                try await client.listZones(in: .private)
            }
            guard
                case .unexpectedResponse(status, "4 bytes of an unknown type", let seconds) = error
            else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect((seconds == nil) == (wait == .seconds(1)))
        }
    }
}
