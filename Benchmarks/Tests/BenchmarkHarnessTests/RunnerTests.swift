import BenchmarkHarness
import Testing

@Suite("Running areas")
struct RunnerTests {
    private struct Broken: Error {}

    private let report = Recorder()
    private let details = Recorder()

    private func area(_ name: String, figure: Double) -> Area {
        Area(name: name) {
            [
                Benchmark(name: "size", bar: .atMost(2)) { _ in
                    Figure(figure, detail: "measured once")
                }
            ]
        }
    }

    private func run(_ areas: [Area], _ names: String...) async -> Int32 {
        let runner = Runner(
            areas: areas,
            report: { [report] in report.add($0) },
            explain: { [details] in details.add($0) }
        )
        return await runner.run(names)
    }

    @Test("When every bar holds the status is 0, and each bar has its line")
    func holds() async {
        #expect(await run([area("one", figure: 1), area("two", figure: 2)]) == 0)
        #expect(report.lines == ["one/size 1.00 ≤2.0 holds", "two/size 2.00 ≤2.0 holds"])
        #expect(details.lines == ["one/size: measured once", "two/size: measured once"])
    }

    @Test("When one bar falls short the rest still run, and the status is 1")
    func fallsShort() async {
        #expect(await run([area("one", figure: 3), area("two", figure: 1)]) == 1)
        #expect(report.lines == ["one/size 3.00 ≤2.0 falls short", "two/size 1.00 ≤2.0 holds"])
    }

    @Test("Only the areas that were asked for are prepared and run")
    func filter() async {
        let costly = Area(name: "costly") { throw Broken() }
        #expect(await run([costly, area("one", figure: 1)], "one") == 0)
        #expect(report.lines == ["one/size 1.00 ≤2.0 holds"])
    }

    @Test("A single bar can be asked for; one that does not exist is an error that lists the rest")
    func oneBar() async {
        let area = Area(name: "one") {
            ["size", "speed"].map { name in
                Benchmark(name: name, bar: .atMost(2)) { _ in Figure(1, detail: "measured once") }
            }
        }
        #expect(await run([area], "one/speed") == 0)
        #expect(report.lines == ["one/speed 1.00 ≤2.0 holds"])
        #expect(await run([area], "one/weight") == 1)
        #expect(details.lines.last == "one has no bar weight; it has: size, speed.")
        #expect(await run([area], "one/") == 1)
        #expect(await run([area], "") == 2)
    }

    @Test("An area that does not exist is an error that lists those that do")
    func unknownArea() async {
        #expect(await run([area("one", figure: 1), area("two", figure: 1)], "three", "one") == 2)
        #expect(report.lines == [])
        #expect(details.lines == ["There is no area three; there are: one, two."])
    }

    @Test("A benchmark that throws falls short, and an area that cannot start fails the run")
    func failures() async {
        let throwing = Area(name: "throwing") {
            [Benchmark(name: "size", bar: .atLeast(1)) { _ in throw Broken() }]
        }
        #expect(await run([throwing]) == 1)
        #expect(report.lines == ["throwing/size nan ≥1.0 falls short"])
        #expect(details.lines.count == 1)

        #expect(await run([Area(name: "unready") { throw Broken() }]) == 1)
        #expect(details.lines.last == "unready: could not be prepared: Broken()")
    }

    @Test("An area that this machine cannot run is skipped with its reason")
    func skipped() async {
        let area = Area(name: "absent") { throw SkippedArea("there is no PostgreSQL") }
        #expect(await run([area, self.area("one", figure: 1)]) == 0)
        #expect(report.lines == ["one/size 1.00 ≤2.0 holds"])
        #expect(details.lines.first == "absent: skipped: there is no PostgreSQL")
    }
}
