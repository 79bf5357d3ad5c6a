import Foundation
import ServerFixtures
import Synchronization

/// A user's way into the service through some nodes, each of which serves all.
struct Door: Sendable {
    static let container = "iCloud.com.example.notes"

    /// The response to a request.
    enum Reply: Sendable {
        case done(JSON)
        /// Nothing was changed.
        case refused
        /// Nobody knows whether anything was changed.
        case unknown
    }

    let nodes: [any ConformanceConnection]
    let apiToken: String
    let webToken: String
    let problems: Problems

    /// Calls an endpoint of the private database through one of the nodes.
    func call(_ endpoint: String, _ body: JSON, node: Int) async -> Reply {
        let path = "/database/1/\(Self.container)/development/private/\(endpoint)"
        do {
            return reply(
                try await nodes[node % nodes.count].send(
                    ConformanceRequest(
                        method: "POST",
                        path: path,
                        query: "ckAPIToken=\(apiToken)&ckWebAuthToken="
                            + FixtureCloud.escape(webToken),
                        body: try JSONEncoder().encode(body)
                    )
                )
            )
        } catch {
            return .unknown
        }
    }

    private func reply(_ response: FixtureCloud.Response) -> Reply {
        switch response.status {
        case 200: return .done(response.body)
        // Of the service, which has undone all, or of a proxy that found no node.
        case 503: return .refused
        case 500 where response.body.nativeErrorCode == 34: return .unknown
        // Of a proxy whose node has gone.
        case 502, 504: return .unknown
        default:
            problems.add("\(response)")
            return .unknown
        }
    }

    /// Calls an endpoint until it responds; for what may be done twice.
    func callUntilDone(_ endpoint: String, _ body: JSON, node: Int) async throws -> JSON {
        var node = node
        while true {
            if case .done(let body) = await call(endpoint, body, node: node) { return body }
            try Task.checkCancellation()
            node += 1
            await Task.yield()
        }
    }
}

/// Descriptions of failures so far.
final class Problems: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }

    func add(_ text: String) { texts.withLock { $0.append(text) } }
}
