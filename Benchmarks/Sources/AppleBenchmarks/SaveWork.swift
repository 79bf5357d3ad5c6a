import BenchmarkHarness
import CloudKit
import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// Saves new records, durably.
enum SaveWork {
    /// Returns the work of saving new records through `CKDatabase` over HTTP.
    static func overHTTP(_ count: Int, to server: NoteServer) -> Work {
        let database = server.database()
        return Work("modifyRecords over HTTP", units: Double(count)) {
            try await NoteServer.save(count, prefix: UUID().uuidString, in: database)
        }
    }

    /// Returns the work of the same requests, prepared and passed to the service in this process.
    static func inProcess(_ count: Int, to server: NoteServer) async throws -> Work {
        let recorded = RecordedRequests()
        let placeholder = UUID().uuidString
        try await NoteServer.save(count, prefix: placeholder, in: server.database(over: recorded))
        let requests = recorded.exchanges.map(\.request)
            .filter { $0.url.contains("records/modify") }
            .map { Template($0, placeholder: placeholder, base: server.client.url) }
        return Work("the service itself", units: Double(count)) {
            let name = UUID().uuidString
            for request in requests {
                let response = await server.service.respond(to: request.named(name))
                guard response.status == 200 else {
                    throw Refused(body: String(decoding: response.body, as: UTF8.self))
                }
            }
        }
    }

    /// An error that indicates that the service returned an error.
    struct Refused: Error {
        let body: String
    }

    /// A request whose record names can be renewed without encoding it again.
    private struct Template: Sendable {
        private let path: String
        private let query: String?
        private let headers: [(String, String)]
        private let body: Data
        private let places: [Int]

        init(_ request: TransportRequest, placeholder: String, base: String) {
            let target = request.url.dropFirst(base.count).split(separator: "?", maxSplits: 1)
            path = String(target[0])
            query = target.count > 1 ? String(target[1]) : nil
            headers = request.headers.map { ($0.key, $0.value) }
            body = request.body ?? Data()
            let pattern = Data(placeholder.utf8)
            var places: [Int] = []
            var rest = body[...]
            while let found = rest.range(of: pattern) {
                places.append(found.lowerBound)
                rest = rest[found.upperBound...]
            }
            self.places = places
        }

        func named(_ name: String) -> ServiceRequest {
            var body = body
            let name = Data(name.utf8)
            for place in places { body.replaceSubrange(place..<place + name.count, with: name) }
            return ServiceRequest(
                method: "POST",
                path: path,
                query: query,
                headers: headers,
                body: body,
                baseURL: "http://127.0.0.1"
            )
        }
    }
}
