import BenchmarkHarness
import Testing

@Suite("Measuring")
struct RoundsTests {
    private let clock = ManualClock()

    private func work(_ name: String, takes milliseconds: Int, units: Double = 1) -> Work {
        Work(name, units: units) { [clock] in clock.advance(by: .milliseconds(milliseconds)) }
    }

    @Test("The time ratio is the subject's time over the floor's")
    func timeRatio() async throws {
        let rounds = Rounds(count: 5, clock: clock)
        let comparison = try await rounds.compare(
            work("subject", takes: 3),
            with: work("floor", takes: 2)
        )
        #expect(comparison.rounds.count == 5)
        #expect(comparison.timeFigure.value == 1.5)
        #expect(
            comparison.timeFigure.detail
                == "subject 3.0 ms, floor 2.0 ms per unit; 5 rounds, ratios from 1.5 to 1.5"
        )
    }

    @Test("The rate ratio is the subject's rate over the floor's")
    func rateRatio() async throws {
        let comparison = try await Rounds(clock: clock)
            .compare(work("subject", takes: 4), with: work("floor", takes: 1))
        #expect(comparison.rateFigure.value == 0.25)
    }

    @Test("Work of different amounts is compared per unit")
    func units() async throws {
        let comparison = try await Rounds(clock: clock).compare(
            work("50 fields", takes: 100, units: 50),
            with: work("10 fields", takes: 10, units: 10)
        )
        #expect(comparison.timeFigure.value == 2)
    }

    @Test("Short work is repeated until a round is long enough, and long work is not")
    func repetitions() async throws {
        let calls = Recorder()
        let short = Work("short") { [clock] in
            calls.add("short")
            clock.advance(by: .milliseconds(3))
        }
        let long = Work("long") { [clock] in
            calls.add("long")
            clock.advance(by: .seconds(1))
        }
        let rounds = Rounds(count: 2, shortest: .milliseconds(20), clock: clock)
        _ = try await rounds.compare(short, with: long)
        // 1 + 2 + 4 + 8 calls find that 8 take 24 ms; then 8 per round. Subject and floor alternate.
        let runs = calls.lines.reduce(into: [(String, Int)]()) { runs, name in
            if runs.last?.0 == name {
                runs[runs.count - 1].1 += 1
            } else {
                runs.append((name, 1))
            }
        }
        #expect(runs.map(\.0) == ["short", "long", "short", "long", "short"])
        #expect(runs.map(\.1) == [15, 1, 8, 2, 8])
    }

    @Test("The median ignores a round that something disturbed")
    func median() {
        let quiet = Comparison.Round(subject: 2, floor: 1)
        let disturbed = Comparison.Round(subject: 90, floor: 1)
        let odd = Comparison(subject: "a", floor: "b", rounds: [quiet, disturbed, quiet])
        #expect(odd.timeFigure.value == 2)
        let even = Comparison(
            subject: "a",
            floor: "b",
            rounds: [quiet, disturbed, quiet, Comparison.Round(subject: 3, floor: 1)]
        )
        #expect(even.timeFigure.value == 2.5)
    }

    @Test("No rounds give no number")
    func empty() {
        #expect(Comparison(subject: "a", floor: "b", rounds: []).timeFigure.value.isNaN)
    }

    @Test("Work that throws ends the measurement with its error")
    func failure() async {
        struct Broken: Error {}
        await #expect(throws: Broken.self) {
            try await Rounds(clock: clock)
                .compare(Work("broken") { throw Broken() }, with: work("floor", takes: 1))
        }
    }
}
