import CloudKitWebClient
import Support
import Synchronization

/// A transport that records its requests, and counts those that wait for a push.
struct CountingTransport: PassingTransport {
    final class Count: Sendable {
        private let contents = Mutex<(paths: [String], waiting: Int)>(([], 0))

        /// The paths of the requests so far, without those for pushes.
        var paths: [String] { contents.withLock { $0.paths } }
        /// The number of requests that wait for a push.
        var waiting: Int { contents.withLock { $0.waiting } }

        /// Waits until a request waits for a push.
        func waitUntilListening() async {
            while waiting == 0 { await Task.yield() }
        }

        fileprivate func begin(_ path: String) {
            contents.withLock { contents in
                if path.hasSuffix("/aps") {
                    contents.waiting += 1
                } else {
                    contents.paths.append(path)
                }
            }
        }

        fileprivate func end(_ path: String) {
            contents.withLock { contents in
                if path.hasSuffix("/aps") { contents.waiting -= 1 }
            }
        }
    }

    let base: any Transport
    private let count: Count

    init(_ base: any Transport, _ count: Count) {
        self.base = base
        self.count = count
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let path = request.url.split(separator: "?").first.map(String.init) ?? request.url
        count.begin(path)
        defer { count.end(path) }
        return try await base.send(request)
    }
}
