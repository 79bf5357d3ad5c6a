import CloudKitWebClient
import Foundation
import ProcessFixtures
import Support
import Synchronization

/// A server in its own process that is killed and started again on the same data, with a transport
/// to it on which faults happen.
final class SoakServer: PassingTransport {
    private struct State {
        var process: ChildProcess?
        var url = ""
        var chance: SeededRandom
        var requests = 0
        var faults = 0
        var kills = 0
    }

    /// The address that clients use.
    static let url = "http://cloud.invalid"
    static let container = "iCloud.com.example.notes"

    let base: any Transport = HTTPTransport()
    private let folder: URL
    private let state: Mutex<State>

    init(folder: URL, seed: UInt64) {
        self.folder = folder
        state = Mutex(State(chance: SeededRandom(seed: seed)))
    }

    var counts: (requests: Int, faults: Int, kills: Int) {
        state.withLock { ($0.requests, $0.faults, $0.kills) }
    }

    /// Starts the server; returns its API token and a token for each of the users.
    func start(users: Int) async throws -> (apiToken: String, users: [String]) {
        let process = try await ChildProcess("ServerProcess", [folder.path, "\(users)"])
        let words = process.words
        state.withLock { state in
            state.process = process
            state.url = words[0]
        }
        return (words[1], Array(words[2...]))
    }

    /// Ends the server without warning, and waits until it has ended.
    func kill() async {
        let process = state.withLock { state in
            state.kills += 1
            defer { state.process = nil }
            return state.process
        }
        await process?.kill()
    }

    /// The faults of the transport.
    private enum Fault { case cut, lost, busy, late }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let (url, fault) = state.withLock { state -> (String, Fault?) in
            state.requests += 1
            let dice = Int.random(in: 0..<100, using: &state.chance)
            let fault: Fault? =
                switch dice {
                case 0: .cut
                case 1: .lost
                case 2: .busy
                case 3: .late
                default: nil
                }
            if fault != nil { state.faults += 1 }
            return (state.url, fault)
        }
        var request = request
        request.url = url + request.url.dropFirst(Self.url.count)
        switch fault {
        case .cut: throw TransportError(.unreachable, message: "cut")
        case .lost:
            _ = try await base.send(request)
            throw TransportError(.broken, message: "lost")
        case .busy:
            return TransportResponse(
                status: 503,
                headers: ["retry-after": "0"],
                body: Data("busy".utf8)
            )
        case .late:
            for _ in 0..<100 { await Task.yield() }
            return try await base.send(request)
        case nil: return try await base.send(request)
        }
    }
}
