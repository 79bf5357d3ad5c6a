import Metrics
import Synchronization

/// The values of one metric with one set of dimensions.
final class PrometheusSeries: CounterHandler, RecorderHandler, MeterHandler, TimerHandler {
    /// The upper bounds of a histogram of seconds.
    static let seconds = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// The upper bounds of a histogram of sizes.
    static let sizes: [Double] = [
        256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
    ]

    private struct Values {
        var sum = 0.0
        var count: Int64 = 0
        var buckets: [Int64]
    }

    let kind: String
    private let bounds: [Double]
    private let values: Mutex<Values>

    init(kind: String, bounds: [Double]) {
        self.kind = kind
        self.bounds = bounds
        values = Mutex(Values(buckets: Array(repeating: 0, count: bounds.count)))
    }

    func increment(by amount: Int64) { values.withLock { $0.sum += Double(amount) } }
    func reset() { values.withLock { $0.sum = 0 } }
    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { values.withLock { $0.sum = value } }
    func increment(by amount: Double) { values.withLock { $0.sum += amount } }
    func decrement(by amount: Double) { values.withLock { $0.sum -= amount } }

    func record(_ value: Double) {
        guard kind == "histogram" else { return set(value) }
        let bucket = bounds.firstIndex { value <= $0 }
        values.withLock { values in
            values.sum += value
            values.count += 1
            if let bucket { values.buckets[bucket] += 1 }
        }
    }

    /// Returns the lines of the series in Prometheus' text format.
    func lines(_ name: String, _ dimensions: String) -> [String] {
        let values = values.withLock { $0 }
        let labels = dimensions.isEmpty ? "" : "{\(dimensions)}"
        guard kind == "histogram" else { return ["\(name)\(labels) \(Self.text(values.sum))"] }
        let prefix = dimensions.isEmpty ? "" : dimensions + ","
        var total: Int64 = 0
        var lines = zip(bounds, values.buckets).map { bound, count in
            total += count
            return "\(name)_bucket{\(prefix)le=\"\(Self.text(bound))\"} \(total)"
        }
        lines.append("\(name)_bucket{\(prefix)le=\"+Inf\"} \(values.count)")
        lines.append("\(name)_sum\(labels) \(values.sum)")
        lines.append("\(name)_count\(labels) \(values.count)")
        return lines
    }

    /// Returns a number as Prometheus reads it.
    static func text(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}
