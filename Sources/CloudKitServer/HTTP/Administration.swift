import CloudKitServerCore
import Metrics

/// What the routes for operators and tests work on, and who may use them.
struct Administration: Sendable {
    /// What their paths begin with; no path of CloudKit does.
    static let prefix = "/_ck/"

    /// The key that a request must show; nil where there are no such routes.
    let key: String?
    let journal: RequestJournal
    let metrics: PrometheusMetrics
    /// The clock, where it can be moved.
    let clock: VirtualClock?
    /// The version of what runs, where it was told.
    let version: String?

    /// Whether a request's `Authorization` shows the key.
    func isAllowed(_ authorization: String?) -> Bool {
        guard let key, let authorization else { return false }
        return isEqualInConstantTime(Array(authorization.utf8), Array("Bearer \(key)".utf8))
    }
}
