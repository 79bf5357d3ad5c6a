/// Runs areas and reports each bar as soon as it is known.
public struct Runner: Sendable {
    private let areas: [Area]
    private let rounds: Rounds
    private let report: @Sendable (String) -> Void
    private let explain: @Sendable (String) -> Void

    /// Makes a runner.
    ///
    /// - Parameters:
    ///   - areas: All areas there are.
    ///   - rounds: How to measure.
    ///   - report: Takes one line per bar, for programs.
    ///   - explain: Takes the details, for people.
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
    }

    /// Measures, reports, and finds the exit status.
    ///
    /// - Parameter names: The areas to run; none asks for all.
    /// - Returns: 0 when every bar holds, 1 when one falls short, 2 when an area is asked for that
    ///   does not exist.
    public func run(_ names: [String]) async -> Int32 {
        let unknown = names.filter { name in !areas.contains { $0.name == name } }
        guard unknown.isEmpty else {
            let known = areas.map(\.name).joined(separator: ", ")
            explain("There is no area \(unknown.joined(separator: ", ")); there are: \(known).")
            return 2
        }
        var allHold = true
        for area in areas where names.isEmpty || names.contains(area.name) {
            allHold = await run(area) && allHold
        }
        return allHold ? 0 : 1
    }

    private func run(_ area: Area) async -> Bool {
        do {
            var allHold = true
            for benchmark in try await area.benchmarks() {
                allHold = await run(benchmark, of: area) && allHold
            }
            return allHold
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
