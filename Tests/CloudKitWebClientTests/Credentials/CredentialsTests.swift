import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

@Suite("Credentials")
struct CredentialsTests {
    private static let page = #"{"userRecordName":"_1"}"#

    private func client(
        _ credentials: WebCredentials,
        _ script: @escaping ScriptedTransport.Script
    ) -> WebClient {
        var client = WebClient(
            url: "http://cloud.invalid",
            container: "c",
            environment: .development,
            credentials: credentials,
            transport: ScriptedTransport(script)
        )
        client.clock = JumpingClock()
        return client
    }

    private func response(renewing token: String) -> TransportResponse {
        TransportResponse(
            status: 200,
            headers: ["x-apple-cloudkit-web-auth-token": token],
            body: Data(Self.page.utf8)
        )
    }

    private func expectUserChanged(_ call: () async throws -> Void) async {
        let error = await #expect(throws: WebClientError.self) { try await call() }
        guard case .transport(let failure) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.code == .userChanged)
    }

    @Test(
        "However often a token was renewed, the next one is handed over at the same depth of calls"
    )
    func depthOfCalls() {
        let depths = Mutex<[Int]>([])
        let credentials = WebCredentials(apiToken: "a", webAuthToken: "0") { _ in
            depths.withLock { $0.append(Thread.callStackReturnAddresses.count) }
        }
        for number in 1...50 { credentials.signIn(webAuthToken: "\(number)") }
        #expect(Set(depths.withLock { $0 }).count == 1)
    }

    @Test("The response to one user's request renews nothing for the next user")
    func lateResponse() async throws {
        let kept = Mutex<[String?]>([])
        let credentials = WebCredentials(apiToken: "a", webAuthToken: "ada") { token in
            kept.withLock { $0.append(token) }
        }
        let client = client(credentials) { _, _ in
            credentials.signIn(webAuthToken: "bob")
            return self.response(renewing: "ada-renewed")
        }
        _ = try await client.caller()
        #expect(credentials.webAuthToken == "bob")
        #expect(kept.withLock { $0 } == ["bob"])
    }

    @Test("A request of one user is not repeated for the next one")
    func retryPolicy() async {
        let credentials = WebCredentials(apiToken: "a", webAuthToken: "ada")
        let sent = Mutex(0)
        var client = client(credentials) { _, _ in
            sent.withLock { $0 += 1 }
            credentials.signIn(webAuthToken: "bob")
            throw TransportError(.unreachable, message: "no server")
        }
        client.retryPolicy = .patient
        await expectUserChanged { _ = try await client.caller() }
        #expect(sent.withLock { $0 } == 1)
    }

    @Test("Work that one user began sends nothing, and moves no file, for the next one")
    func begunWork() async {
        let credentials = WebCredentials(apiToken: "a", webAuthToken: "ada")
        let script = ScriptedTransport { _, _ in .ok(Self.page) }
        var client = client(credentials) { _, _ in nil }
        client.transport = script
        let work = client.begun()
        credentials.signIn(webAuthToken: "bob")
        await expectUserChanged { _ = try await work.caller() }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        await expectUserChanged {
            try await work.download(
                WireAsset(fileChecksum: "x", size: 1, downloadURL: "http://cloud.invalid/f"),
                to: file
            )
        }
        await expectUserChanged {
            _ = try await work.nextNotification(at: "http://cloud.invalid/push")
        }
        #expect(script.requests.isEmpty)
        // A user who signs in again is another sign-in, too.
        credentials.signIn(webAuthToken: "ada")
        await expectUserChanged { _ = try await work.caller() }
    }

    @Test("What keeps a token may sign somebody out: the last word counts")
    func reentrance() {
        let kept = Mutex<[String?]>([])
        let box = Mutex<WebCredentials?>(nil)
        let credentials = WebCredentials(apiToken: "a", webAuthToken: "ada") { token in
            kept.withLock { $0.append(token) }
            if token == "bob" { box.withLock { $0 }?.signIn(webAuthToken: nil) }
        }
        box.withLock { $0 = credentials }
        credentials.signIn(webAuthToken: "bob")
        #expect(credentials.webAuthToken == nil)
        #expect(kept.withLock { $0 } == ["bob", nil])
    }

    @Test("A key is rotated in credentials that are in use; tokens take no key")
    func rotation() async throws {
        let first = try ServerKey(keyID: "first", privateKeyPEM: ServerKey.makePrivateKeyPEM())
        let second = try ServerKey(keyID: "second", privateKeyPEM: ServerKey.makePrivateKeyPEM())
        let credentials = WebCredentials(serverKey: first)
        let script = ScriptedTransport { _, _ in .ok(Self.page) }
        var client = client(credentials) { _, _ in nil }
        client.transport = script
        _ = try await client.caller()
        #expect(credentials.rotate(to: second))
        _ = try await client.caller()
        let keys = script.requests.map { $0.headers["X-Apple-CloudKit-Request-KeyID"] }
        #expect(keys == ["first", "second"])
        let tokens = WebCredentials(apiToken: "a")
        #expect(!tokens.rotate(to: first))
        #expect(tokens.serverKey == nil)
    }
}
