import CloudKitServerCore
public import Metrics
import Synchronization

/// Counters and timers in the form that Prometheus collects.
///
/// A backend of swift-metrics: metrics that a program records through it appear in `text`, in
/// addition to the server's own.
public final class PrometheusMetrics: MetricsFactory {
    /// One metric with one set of dimensions.
    private struct Key: Hashable, Comparable, Sendable {
        var name: String
        var dimensions: String

        static func < (first: Key, second: Key) -> Bool {
            (first.name, first.dimensions) < (second.name, second.dimensions)
        }
    }

    private let series = Mutex<[Key: PrometheusSeries]>([:])

    /// The descriptions of the server's own metrics; docs/operating/self-hosting.md has more about each.
    private static let help = [
        "cloudkit_requests_total": "Completed requests.",
        "cloudkit_request_duration_seconds": "Seconds from a request to its response.",
        "cloudkit_response_size_bytes": "Bytes of response bodies.",
        "cloudkit_requests_in_flight": "Requests in flight.",
        "cloudkit_waiting_requests": "Requests that wait for a notification.",
        "cloudkit_connections": "Open connections.",
        "cloudkit_connections_refused_total": "Connections that were refused because of a limit.",
        "cloudkit_request_memory_bytes": "Bytes of request bodies in memory.",
        "cloudkit_response_memory_bytes": "Bytes of responses that are built or not yet read.",
        "cloudkit_responses_cut_total": "Responses that were cut because nobody read them.",
        "process_resident_memory_bytes": "Resident memory of the process in bytes.",
        "process_open_fds": "Open file descriptors of the process.",
        "process_start_time_seconds": "Start time of the process, in seconds since 1970.",
    ]

    /// Sets a gauge, creating it if necessary.
    func setGauge(_ name: String, _ value: Double) {
        makeMeter(label: name, dimensions: []).set(value)
    }

    /// Creates an empty collection.
    public init() {}

    /// All metrics recorded so far, in Prometheus' text format 0.0.4.
    public var text: String {
        let all = series.withLock { $0 }.sorted { $0.key < $1.key }
        var lines: [String] = []
        var last = ""
        for (key, series) in all {
            if key.name != last {
                if let help = Self.help[key.name] { lines.append("# HELP \(key.name) \(help)") }
                lines.append("# TYPE \(key.name) \(series.kind)")
            }
            last = key.name
            lines += series.lines(key.name, key.dimensions)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Returns the metrics of a storage in the same format.
    ///
    /// They are not kept here: one that the storage no longer has must not stay as it was last.
    static func text(of metrics: [StorageMetric]) -> String {
        var lines: [String] = []
        var last = ""
        for metric in metrics {
            if metric.name != last {
                lines.append("# HELP \(metric.name) \(metric.help)")
                lines.append("# TYPE \(metric.name) \(metric.kind.rawValue)")
            }
            last = metric.name
            let labels = metric.label.map { "{\(text(of: [($0.name, $0.value)]))}" } ?? ""
            lines.append("\(metric.name)\(labels) \(PrometheusSeries.text(metric.value))")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Returns the counter with a name and dimensions, creating it if necessary.
    public func makeCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any CounterHandler {
        find(label, dimensions, "counter", [])
    }

    /// Returns a recorder, creating it if necessary: a histogram of sizes, or a gauge if it does
    /// not aggregate.
    public func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        aggregate
            ? find(label, dimensions, "histogram", PrometheusSeries.sizes)
            : find(label, dimensions, "gauge", [])
    }

    /// Returns a gauge, creating it if necessary.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        find(label, dimensions, "gauge", [])
    }

    /// Returns a timer, creating it if necessary: a histogram of seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        find(label, dimensions, "histogram", PrometheusSeries.seconds)
    }

    /// Removes a counter.
    public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    /// Removes a recorder.
    public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    /// Removes a gauge.
    public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    /// Removes a timer.
    public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    private func find(
        _ label: String,
        _ dimensions: [(String, String)],
        _ kind: String,
        _ bounds: [Double]
    ) -> PrometheusSeries {
        let key = Key(name: Self.name(label), dimensions: Self.text(of: dimensions))
        return series.withLock { series in
            if let known = series[key] { return known }
            let new = PrometheusSeries(kind: kind, bounds: bounds)
            series[key] = new
            return new
        }
    }

    private func remove(_ handler: AnyObject) {
        series.withLock { series in
            if let key = series.first(where: { $0.value === handler })?.key { series[key] = nil }
        }
    }

    /// Returns a name in the characters that Prometheus allows.
    private static func name(_ label: String) -> String {
        let text = String(
            label.unicodeScalars.map { scalar -> Character in
                let isAllowed =
                    scalar.isASCII
                    && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                        || scalar == "_" || scalar == ":")
                return isAllowed ? Character(scalar) : "_"
            }
        )
        return text.first?.isNumber ?? true ? "_" + text : text
    }

    private static func text(of dimensions: [(String, String)]) -> String {
        dimensions.map { name, value in
            let escaped = value.map { character in
                switch character {
                case "\\": "\\\\"
                case "\"": "\\\""
                case "\n": "\\n"
                default: String(character)
                }
            }.joined()
            return "\(Self.name(name))=\"\(escaped)\""
        }.joined(separator: ",")
    }
}
