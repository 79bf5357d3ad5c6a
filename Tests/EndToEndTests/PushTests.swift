import CloudKit
import CloudKitExtras
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Synchronization
import Testing

@Suite("Push")
struct PushTests {
    @Test("Notifications come one after the other, through empty answers and lost connections")
    func sequence() async throws {
        let courier = Courier(answers: [
            .push("a"), .empty, .lost, .push("b"), .noise, .push("c"),
        ])
        let container = CKContainer(
            client: WebClient(
                url: "http://cloud.invalid",
                container: "iCloud.test",
                environment: .development,
                credentials: WebCredentials(apiToken: "a", webAuthToken: "u"),
                transport: courier
            )
        )
        var names: [String] = []
        for try await notification in container.notifications(clientID: "test") {
            names.append(notification.subscriptionID ?? "")
            if names.count == 3 { break }
        }
        #expect(names == ["a", "b", "c"])
        // A lost connection asks for a new place to wait at.
        #expect(courier.tokens == 2)
    }

    @Test("A service that refuses to push ends the sequence with its error")
    func refusal() async throws {
        let courier = Courier(answers: [], refuses: true)
        let container = CKContainer(
            client: WebClient(
                url: "http://cloud.invalid",
                container: "iCloud.test",
                environment: .development,
                credentials: WebCredentials(apiToken: "a", webAuthToken: "u"),
                transport: courier
            )
        )
        await expectCKError(.permissionFailure) {
            for try await _ in container.notifications() {}
        }
    }
}

/// A web courier with a script.
private final class Courier: Transport {
    enum Answer {
        case push(String)
        case empty
        case lost
        case noise
    }

    private let state: Mutex<(answers: [Answer], tokens: Int)>
    private let refuses: Bool

    init(answers: [Answer], refuses: Bool = false) {
        state = Mutex((answers, 0))
        self.refuses = refuses
    }

    var tokens: Int { state.withLock { $0.tokens } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard !refuses else {
            return TransportResponse(
                status: 403,
                body: Data(#"{"serverErrorCode":"ACCESS_DENIED","reason":"no"}"#.utf8)
            )
        }
        if request.url.contains("/tokens/create") {
            state.withLock { $0.tokens += 1 }
            return TransportResponse(
                status: 200,
                body: Data(
                    """
                    {"apnsEnvironment":"development","apnsToken":"t",\
                    "webcourierURL":"http://cloud.invalid/courier"}
                    """.utf8
                )
            )
        }
        let answer = state.withLock { $0.answers.isEmpty ? .empty : $0.answers.removeFirst() }
        switch answer {
        case .push(let name):
            let push = #"{"ck":{"met":{"sid":"\#(name)","dbs":2}}}"#
            return TransportResponse(status: 200, body: Data(push.utf8))
        case .empty: return TransportResponse(status: 200)
        case .noise: return TransportResponse(status: 200, body: Data("?".utf8))
        case .lost: throw TransportError(.broken, message: "lost")
        }
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        throw TransportError(.unreachable, message: "")
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        throw TransportError(.unreachable, message: "")
    }
}
