import CloudKitTesting
import CloudKitWebClient
import Foundation
import Synchronization

/// Answers of `records/query`, page after page, and what was asked.
final class ScriptedQueries: Sendable {
    private let pages: [[String]]
    private let requests = Mutex<[Data]>([])

    init(pages: [[String]]) {
        self.pages = pages
    }

    /// The bodies of the requests.
    var bodies: [[String: Any]] {
        requests.withLock { $0 }.map { data in
            (try? JSONSerialization.jsonObject(with: data) as? [String: Any]) ?? [:]
        }
    }

    func answer(_ request: TransportRequest) -> TransportResponse {
        let page = requests.withLock { requests in
            requests.append(request.body ?? Data())
            return requests.count - 1
        }
        guard page < pages.count else {
            return TransportResponse(
                status: 400,
                body: Data(
                    #"{"serverErrorCode":"BAD_REQUEST","reason":"Did not find record type: X"}"#
                        .utf8
                )
            )
        }
        let records = pages[page].map {
            #"{"recordName":"\#($0)","recordType":"Person","fields":{},"recordChangeTag":"1"}"#
        }
        let marker = page + 1 < pages.count ? #","continuationMarker":"\#(page + 1)""# : ""
        return TransportResponse(
            status: 200,
            body: Data(#"{"records":[\#(records.joined(separator: ","))]\#(marker)}"#.utf8)
        )
    }
}

/// A cloud whose queries are scripted.
struct ScriptedTransport: Transport {
    let base: InProcessTransport
    let queries: ScriptedQueries

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        request.url.contains("/records/query")
            ? queries.answer(request) : try await base.send(request)
    }

    func upload(
        _ file: URL,
        to url: String,
        progress: @escaping TransferProgress
    ) async throws -> TransportResponse {
        try await base.upload(file, to: url, progress: progress)
    }

    func download(
        _ url: String,
        to file: URL,
        progress: @escaping TransferProgress
    ) async throws {
        try await base.download(url, to: file, progress: progress)
    }
}
