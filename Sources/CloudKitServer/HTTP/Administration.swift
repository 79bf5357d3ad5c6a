import CloudKitServerCore
import Metrics

/// The dependencies and the access check of the routes for operators and tests.
struct Administration: Sendable {
    /// The common prefix of their paths, which no path of CloudKit has.
    static let prefix = "/_ck/"

    /// The key that a request must carry; nil if these routes are disabled.
    let key: String?
    let journal: RequestJournal
    let metrics: PrometheusMetrics
    /// The clock, if it can be moved.
    let clock: VirtualClock?
    /// The version of the running program, if it is known.
    let version: String?
    /// The requests with wrong keys, by client.
    let tries = SignInTries()
    /// The requests that are carried out once, however often they arrive.
    let repeated = RepeatedRequests()

    /// Returns whether a request's `Authorization` carries the key.
    func isAllowed(_ authorization: String?) -> Bool {
        guard let key, let authorization else { return false }
        return isEqualInConstantTime(Array(authorization.utf8), Array("Bearer \(key)".utf8))
    }
}
