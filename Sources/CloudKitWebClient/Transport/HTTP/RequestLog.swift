import Logging

/// The line that is written of one request; `docs/operating/logging.md` says what stands in it.
struct RequestLog: Sendable {
    private let logger: Logger?
    private let endpoint: String
    private let start = ContinuousClock.now

    init(_ logger: Logger?, _ url: String) {
        self.logger = logger
        endpoint = logger == nil ? "" : Self.endpoint(of: url)
    }

    func finished(_ status: Int) {
        logger?.debug(
            "Request finished",
            metadata: [
                "endpoint": "\(endpoint)", "status": "\(status)", "milliseconds": "\(milliseconds)",
            ]
        )
    }

    func failed(_ error: TransportError) {
        logger?.debug(
            "Request failed",
            metadata: [
                "endpoint": "\(endpoint)", "code": "\(error.code.rawValue)",
                "milliseconds": "\(milliseconds)",
            ]
        )
    }

    private var milliseconds: Int64 {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// Returns the last parts of a request's path; links to files and to the courier are secrets as a
    /// whole.
    private static func endpoint(of url: String) -> String {
        let path = url.prefix { $0 != "?" }.split(separator: "/").dropFirst(2)
        guard path.first == "database" || path.first == "device" else { return "file" }
        return path.suffix(2).joined(separator: "/")
    }
}
