import Metrics
import Synchronization

/// The metrics of requests, each created once because finding one by its labels costs more than counting.
///
/// Labels come from few endpoints, statuses and codes, so there are few metrics.
final class RequestSeries: Sendable {
    private struct Outcome: Hashable {
        var endpoint: String
        var status: Int
        var code: String
    }

    private struct Made {
        var totals: [Outcome: Counter] = [:]
        var durations: [String: Timer] = [:]
        var sizes: [String: Recorder] = [:]
    }

    /// The number of requests in flight.
    let inFlight: Meter
    /// The number of responses that were cut because nobody read them.
    let cuts: Counter
    /// The number of connections that were refused because there were too many.
    let refusals: Counter
    private let factory: any MetricsFactory
    private let made = Mutex(Made())

    init(_ factory: any MetricsFactory) {
        self.factory = factory
        inFlight = Meter(label: "cloudkit_requests_in_flight", factory: factory)
        cuts = Counter(label: "cloudkit_responses_cut_total", factory: factory)
        refusals = Counter(label: "cloudkit_connections_refused_total", factory: factory)
    }

    /// Counts a response.
    func record(
        _ endpoint: String,
        status: Int,
        code: String,
        nanoseconds: Int64,
        bytes: Int
    ) {
        let outcome = Outcome(endpoint: endpoint, status: status, code: code)
        let (counter, timer, recorder) = made.withLock { made in
            (total(outcome, in: &made), duration(endpoint, in: &made), size(endpoint, in: &made))
        }
        counter.increment()
        timer.recordNanoseconds(nanoseconds)
        recorder.record(bytes)
    }

    private func total(_ outcome: Outcome, in made: inout Made) -> Counter {
        if let counter = made.totals[outcome] { return counter }
        let counter = Counter(
            label: "cloudkit_requests_total",
            dimensions: [
                ("endpoint", outcome.endpoint), ("status", String(outcome.status)),
                ("code", outcome.code),
            ],
            factory: factory
        )
        made.totals[outcome] = counter
        return counter
    }

    private func duration(_ endpoint: String, in made: inout Made) -> Timer {
        if let timer = made.durations[endpoint] { return timer }
        let timer = Timer(
            label: "cloudkit_request_duration_seconds",
            dimensions: [("endpoint", endpoint)],
            factory: factory
        )
        made.durations[endpoint] = timer
        return timer
    }

    private func size(_ endpoint: String, in made: inout Made) -> Recorder {
        if let recorder = made.sizes[endpoint] { return recorder }
        let recorder = Recorder(
            label: "cloudkit_response_size_bytes",
            dimensions: [("endpoint", endpoint)],
            aggregate: true,
            factory: factory
        )
        made.sizes[endpoint] = recorder
        return recorder
    }
}
