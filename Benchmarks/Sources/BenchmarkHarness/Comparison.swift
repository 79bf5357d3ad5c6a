/// The times of two pieces of work that were measured alternately.
public struct Comparison: Hashable, Sendable {
    /// One turn of each work, in seconds per unit.
    public struct Round: Hashable, Sendable {
        /// The subject's time.
        public var subject: Double
        /// The floor's time.
        public var floor: Double

        /// Creates a round.
        public init(subject: Double, floor: Double) {
            self.subject = subject
            self.floor = floor
        }
    }

    /// The name of the subject.
    public var subject: String
    /// The name of the floor.
    public var floor: String
    /// The rounds in the order in which they were run.
    public var rounds: [Round]

    /// Creates a comparison.
    public init(subject: String, floor: String, rounds: [Round]) {
        self.subject = subject
        self.floor = floor
        self.rounds = rounds
    }

    /// The median of the rounds' time ratios: 2 when the subject takes twice as long.
    public var timeFigure: Figure {
        figure { $0.subject / $0.floor }
    }

    /// The median of the rounds' rate ratios: 0.5 when the subject takes twice as long.
    public var rateFigure: Figure {
        figure { $0.floor / $0.subject }
    }

    private func figure(_ ratio: (Round) -> Double) -> Figure {
        let ratios = rounds.map(ratio)
        let subjectTime = text(seconds: median(rounds.map(\.subject)))
        let floorTime = text(seconds: median(rounds.map(\.floor)))
        let lowest = Figure(ratios.min() ?? .nan, detail: "").value
        let highest = Figure(ratios.max() ?? .nan, detail: "").value
        return Figure(
            median(ratios),
            detail: "\(subject) \(subjectTime), \(floor) \(floorTime) per unit; "
                + "\(rounds.count) rounds, ratios from \(lowest) to \(highest)"
        )
    }

    private func median(_ values: [Double]) -> Double {
        guard !values.isEmpty else { return .nan }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2)
            ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    private func text(seconds: Double) -> String {
        let steps = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]
        let (scale, unit) = steps.first { seconds >= $0.0 } ?? (1e-9, "ns")
        return "\((seconds / scale * 10).rounded() / 10) \(unit)"
    }
}
