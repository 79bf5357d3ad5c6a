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
                transport: courier.transport
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
                transport: courier.transport
            )
        )
        await expectCKError(.permissionFailure) {
            for try await _ in container.notifications() {}
        }
    }
}

/// A web courier with a script.
private struct Courier {
    enum Answer {
        case push(String)
        case empty
        case lost
        case noise
    }

    let transport: ScriptedTransport

    init(answers: [Answer], refuses: Bool = false) {
        let answers = Mutex(answers)
        transport = ScriptedTransport { request, _ in
            if refuses {
                return .refusal(403, #"{"serverErrorCode":"ACCESS_DENIED","reason":"no"}"#)
            }
            if request.isAbout("tokens/create") {
                return .ok(
                    """
                    {"apnsEnvironment":"development","apnsToken":"t",\
                    "webcourierURL":"http://cloud.invalid/courier"}
                    """
                )
            }
            switch answers.withLock({ $0.isEmpty ? .empty : $0.removeFirst() }) {
            case .push(let name): return .ok(#"{"ck":{"met":{"sid":"\#(name)","dbs":2}}}"#)
            case .empty: return .ok()
            case .noise: return .ok("?")
            case .lost: throw TransportError(.broken, message: "lost")
            }
        }
    }

    /// How often a place to wait at was asked for.
    var tokens: Int { transport.requests(about: "tokens/create").count }
}
