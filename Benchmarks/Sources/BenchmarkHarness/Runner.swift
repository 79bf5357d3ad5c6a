/// Runs areas and reports each bar as soon as it is measured.
public struct Runner: Sendable {
    private let areas: [Area]
    private let rounds: Rounds
    private let report: @Sendable (String) -> Void
    private let explain: @Sendable (String) -> Void

    /// Creates a runner.
    ///
    /// - Parameters:
    ///   - areas: All areas.
    ///   - rounds: The rounds of each measurement.
    ///   - report: Receives one line per bar, for programs.
    ///   - explain: Receives the details, for readers.
    public init(
        areas: [Area],
        rounds: Rounds = Rounds(),
        report: @escaping @Sendable (String) -> Void,
        explain: @escaping @Sendable (String) -> Void
    ) {
        self.areas = areas
        self.rounds = rounds
        self.report = report
        self.explain = explain
        _ = Benchmark.sizeAtStart
    }

    /// Measures, reports, and returns the exit status.
    ///
    /// - Parameter names: The areas to run, or single bars of them by their names in the report; none
    ///   runs all.
    /// - Returns: 0 when every bar holds, 1 when one falls short, 2 when a requested area does not
    ///   exist.
    public func run(_ names: [String]) async -> Int32 {
        let asked = names.map {
            $0.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
                .map(String.init)
        }
        let unknown = asked.compactMap(\.first)
            .filter { name in !areas.contains { $0.name == name } }
        guard unknown.isEmpty else {
            let known = areas.map(\.name).joined(separator: ", ")
            explain("There is no area \(unknown.joined(separator: ", ")); there are: \(known).")
            return 2
        }
        var allHold = true
        for area in areas {
            let asked = asked.filter { $0.first == area.name }
            guard names.isEmpty || !asked.isEmpty else { continue }
            let bars = asked.contains { $0.count == 1 } ? [] : asked.map { $0[1] }
            allHold = await run(area, bars: bars) && allHold
        }
        return allHold ? 0 : 1
    }

    /// Runs some bars of an area, or all when none is named.
    private func run(_ area: Area, bars: [String]) async -> Bool {
        do {
            let benchmarks = try await area.benchmarks()
            let unknown = bars.filter { bar in !benchmarks.contains { $0.name == bar } }
            guard unknown.isEmpty else {
                let known = benchmarks.map(\.name).joined(separator: ", ")
                explain(
                    "\(area.name) has no bar \(unknown.joined(separator: ", ")); it has: \(known)."
                )
                return false
            }
            var allHold = true
            for benchmark in benchmarks where bars.isEmpty || bars.contains(benchmark.name) {
                allHold = await run(benchmark, of: area) && allHold
            }
            return allHold
        } catch let skipped as SkippedArea {
            explain("\(area.name): skipped: \(skipped.reason)")
            return true
        } catch {
            explain("\(area.name): could not be prepared: \(error)")
            return false
        }
    }

    private func run(_ benchmark: Benchmark, of area: Area) async -> Bool {
        let name = "\(area.name)/\(benchmark.name)"
        var value = Double.nan
        do {
            let figure = try await benchmark.measure(rounds)
            value = figure.value
            explain("\(name): \(figure.detail)")
        } catch {
            explain("\(name): could not be measured: \(error)")
        }
        let verdict = Verdict(name: name, value: value, bar: benchmark.bar)
        report(verdict.description)
        return verdict.holds
    }
}
