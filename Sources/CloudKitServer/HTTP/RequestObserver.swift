import CloudKitServerCore
import CloudKitWire
import Hummingbird
import Logging
import Metrics
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Records requests and responses in the log, the metrics and the journal.
struct RequestObserver: Sendable {
    let journal: RequestJournal
    let logger: Logger
    let clock: any ServiceClock
    /// The destination of measurements.
    let series: RequestSeries
    /// `true` when the journal keeps the beginnings of bodies, which contain users' values.
    let keepsBodies: Bool
    /// A closure that receives each journal entry, for a person who watches.
    let watcher: (@Sendable (JournalEntry) -> Void)?

    /// A flag that is raised once the operator has been warned of an unknown proxy.
    private let hasWarnedOfProxy = WarningFlag()
    /// The refused connections since the last warning of them.
    private let refusals = WarningCount(interval: .seconds(60))
    /// The sign-ins since the last notice of them that were refused because of earlier ones.
    private let delays = WarningCount(interval: .seconds(60))

    init(
        journal: RequestJournal,
        logger: Logger,
        clock: any ServiceClock,
        series: RequestSeries,
        keepsBodies: Bool,
        watcher: (@Sendable (JournalEntry) -> Void)?
    ) {
        self.journal = journal
        self.logger = logger
        self.clock = clock
        self.series = series
        self.keepsBodies = keepsBodies
        self.watcher = watcher
    }

    /// Warns, once, that addresses in responses bypass the proxy that forwarded a request.
    func warnOfProxy() {
        guard hasWarnedOfProxy.raise() else { return }
        logger.warning(
            "A proxy forwarded a request, and the server does not know for which address",
            metadata: [
                "remedy": """
                start it with --public-url, or name the proxy with --trusted-proxy; until then \
                asset addresses and the address of the sign-in page are those of the proxy's own request
                """
            ]
        )
    }

    /// Logs a wrong key for operators; the last one before its sender has to wait is a warning.
    func noteWrongKey(isLast: Bool) {
        logger.log(
            level: isLast ? .warning : .notice,
            isLast
                ? "Too many requests had a wrong key for operators; their sender has to wait"
                : "A request had a wrong key for operators"
        )
    }

    /// Logs that somebody was not signed in.
    ///
    /// - Parameters:
    ///   - name: The name as it was given, which may be any text.
    ///   - sender: The sender of the form.
    func noteRefusedSignIn(as name: String, from sender: SignInSender) {
        let start = String(decoding: name.utf8.prefix(Self.loggedNameBytes), as: UTF8.self)
        var metadata = sender.metadata
        // In quotes, so that no name looks like other metadata.
        metadata["user"] = "\(TerminalText.line(start).debugDescription)"
        logger.notice("A sign-in was refused", metadata: metadata)
    }

    /// Counts a sign-in that was refused because of earlier ones, and logs it, not more than once a
    /// minute.
    func noteDelayedSignIn(from sender: SignInSender) {
        guard let count = delays.add() else { return }
        var metadata = sender.metadata
        metadata["count"] = .stringConvertible(count)
        metadata["error"] = "too many tries have failed for the name or from the address"
        logger.notice(
            "Sign-ins were refused because their senders have to wait",
            metadata: metadata
        )
    }

    private static let loggedNameBytes = 100

    /// Counts a connection that was refused, and warns of it, not more than once a minute.
    func noteRefusal(_ limit: ConnectionLimit) {
        series.refusals.increment()
        guard let count = refusals.add() else { return }
        logger.warning(
            "Connections were refused",
            metadata: [
                "count": .stringConvertible(count),
                "error": "the server has \(limit.description)",
            ]
        )
    }

    /// Begins the observation of a request.
    func begin(_ request: Request) -> Observation {
        series.inFlight.increment()
        return Observation(observer: self, request: request, start: .now, time: clock.milliseconds)
    }

    /// Logs why the rest of a response is not sent.
    func noteUnreadable(_ error: any Error) {
        guard let cause = CloudService.damage(error) else { return }
        logger.error("A response was cut off", metadata: ["error": "\(cause)"])
    }

    /// Records that the server cut a response because its client did not read it.
    private func noteCut(_ endpoint: String, _ number: Int, _ id: String, bytes: Int) {
        series.cuts.increment()
        if let entry = journal.note(.unread, of: number) { watcher?(entry) }
        logger.warning(
            "A response was cut off",
            metadata: [
                "request.id": "\(id)", "endpoint": "\(endpoint)",
                "bytes": .stringConvertible(bytes), "error": "its client did not read it in time",
            ]
        )
    }

    /// A request in flight.
    struct Observation {
        let observer: RequestObserver
        let request: Request
        let start: ContinuousClock.Instant
        let time: Int64

        /// Records the response.
        ///
        /// - Returns: A closure that records that the server cut the response because nobody read it.
        func end(_ result: AdapterResponse) -> @Sendable () -> Void {
            observer.series.inFlight.decrement()
            let path = result.path ?? ServicePath(request.uri.path)
            let endpoint = endpoint(path)
            // Requests by operators do not count as clients' requests.
            guard endpoint != Self.administration else { return {} }
            let duration = ContinuousClock.now - start
            let status = result.response.status.code
            let size = result.response.body.contentLength ?? 0
            let problems = result.service.map(JournalEntry.Problem.all) ?? []
            let code = status >= 400 ? problems.first?.code ?? "" : ""
            observer.series.record(
                endpoint,
                status: status,
                code: code,
                nanoseconds: duration.nanoseconds,
                bytes: size
            )
            var entry = JournalEntry(
                id: result.response.headers[.requestID] ?? "",
                time: time,
                method: request.method.rawValue,
                endpoint: path?.endpoint ?? AssetRoute(path: request.uri.path).map(Self.name)
                    ?? request.uri.path,
                container: path?.container,
                database: path.map { "\($0.environment.rawValue)/\($0.database.rawValue)" },
                user: result.service?.userRecordName,
                status: status,
                loss: JournalEntry.Loss(result.delivery.end, of: size),
                milliseconds: Double(duration.nanoseconds) / 1_000_000,
                bytes: size,
                problems: problems,
                faults: result.service?.faultRules ?? []
            )
            entry.number = observer.journal.add(
                entry,
                observer.keepsBodies ? JournalBodies(result) : nil
            )
            observer.watcher?(entry)
            log(entry, endpoint, path, code, result.service?.cause)
            return { [observer, number = entry.number, id = entry.id] in
                observer.noteCut(endpoint, number, id, bytes: size)
            }
        }

        private static let administration = "administration"

        /// Returns the endpoint's name from a fixed set, so that clients cannot add more.
        private func endpoint(_ path: ServicePath?) -> String {
            let path = path.flatMap { Endpoint(rawValue: $0.endpoint) }?.rawValue
            if let path { return path }
            let text = request.uri.path
            if let route = AssetRoute(path: text) { return Self.name(route) }
            if text == CourierRoute.path { return "push/wait" }
            if text == "/metrics" || text.hasPrefix(Administration.prefix)
                || HTTPAdapter.isHealth(text) || DashboardPage.isPart(text)
            {
                return Self.administration
            }
            return "other"
        }

        private static func name(_ route: AssetRoute) -> String {
            switch route {
            case .upload: "assets/send"
            case .download: "assets/fetch"
            }
        }

        private func log(
            _ entry: JournalEntry,
            _ endpoint: String,
            _ path: ServicePath?,
            _ code: String,
            _ cause: String?
        ) {
            // A damaged record does not fail the request that found it, and a request that is to
            // come again later was refused, whatever the status.
            let hasFailed = entry.status >= 500 && code != ServerErrorCode.tryAgainLater.rawValue
            let isOurs = (hasFailed || cause != nil) && entry.faults.isEmpty
            let level: Logger.Level = isOurs ? .error : .debug
            observer.logger.log(
                level: level,
                isOurs ? "Request failed" : "Request finished",
                metadata: metadata(entry, endpoint, path, code, cause)
            )
        }

        private func metadata(
            _ entry: JournalEntry,
            _ endpoint: String,
            _ path: ServicePath?,
            _ code: String,
            _ cause: String?
        ) -> Logger.Metadata {
            var metadata: Logger.Metadata = [
                "request.id": "\(entry.id)", "endpoint": "\(endpoint)",
                "status": .stringConvertible(entry.status),
                "milliseconds": .stringConvertible(entry.milliseconds),
            ]
            if !code.isEmpty { metadata["code"] = "\(code)" }
            if let cause { metadata["error"] = "\(cause)" }
            // A path outside the service may contain anything.
            if let path, endpoint != "other" {
                metadata["container"] = "\(TerminalText.line(path.container))"
                metadata["environment"] = "\(path.environment.rawValue)"
                metadata["scope"] = "\(path.database.rawValue)"
            }
            return metadata
        }
    }
}

/// A flag that is raised once.
private final class WarningFlag: Sendable {
    private let isRaised = Atomic(false)

    /// Raises the flag and returns whether it was not raised before.
    func raise() -> Bool {
        !isRaised.load(ordering: .relaxed) && !isRaised.exchange(true, ordering: .relaxed)
    }
}

/// Events of which there is one warning in a time.
private final class WarningCount: Sendable {
    private let interval: Duration
    private let state = Mutex((count: 0, warned: ContinuousClock.Instant?.none))

    init(interval: Duration) {
        self.interval = interval
    }

    /// Counts an event; returns the number since the last warning if it is time for another.
    func add() -> Int? {
        state.withLock { state in
            state.count += 1
            let now = ContinuousClock.now
            if let warned = state.warned, now - warned < interval { return nil }
            defer { state = (0, now) }
            return state.count
        }
    }
}

extension JournalEntry.Loss {
    /// Creates the loss of a response with a body of so many bytes; nil if all of it is sent.
    fileprivate init?(_ end: ServiceResponse.Delivery.End, of size: Int) {
        switch end {
        case .whole: return nil
        case .lost: self = .lost
        case .cut(let bytes):
            guard bytes < size else { return nil }
            self = .cut
        }
    }
}

extension Duration {
    /// The whole nanoseconds of a duration shorter than centuries.
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
