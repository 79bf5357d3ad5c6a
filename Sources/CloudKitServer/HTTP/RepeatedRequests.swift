import HTTPTypes
import Hummingbird
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The last requests of operators that carried an `Idempotency-Key`, each of which is carried out once.
///
/// Browsers send a request again by themselves when its connection closes before a response, and
/// the first one may have been carried out.
final class RepeatedRequests: Sendable {
    /// The parts of a request that are the same when it is repeated.
    struct Identity: Hashable, Sendable {
        let key: String
        let method: HTTPRequest.Method
        let target: String
        /// A hash of all bytes of the body, which may be long.
        let body: Int

        /// Creates the identity of a request with a key.
        init(key: String, of request: Request, body: Data) {
            self.key = key
            method = request.method
            target = request.uri.string
            var hasher = Hasher()
            body.withUnsafeBytes { hasher.combine(bytes: $0) }
            self.body = hasher.finalize()
        }
    }

    /// The responses, the oldest first.
    private typealias Responses = [(identity: Identity, response: Task<AdapterResponse, Never>)]

    /// Responses that are kept at most.
    private static let limit = 64

    private let responses: Mutex<Responses> = Mutex([])

    /// Returns the response to a request, carrying it out unless it was before.
    ///
    /// What is begun is carried out to its end, even if the connection breaks meanwhile. A refusal
    /// is forgotten, since nothing has happened.
    func response(
        to identity: Identity,
        _ carryOut: @escaping @Sendable () async -> AdapterResponse
    ) async -> AdapterResponse {
        let task = responses.withLock { responses in
            if let known = responses.first(where: { $0.identity == identity }) {
                return known.response
            }
            let task = Task { await carryOut() }
            responses.append((identity, task))
            if responses.count > Self.limit { responses.removeFirst() }
            return task
        }
        let response = await task.value
        if response.response.status != .ok {
            responses.withLock { $0.removeAll { $0.response == task } }
        }
        return response
    }
}
