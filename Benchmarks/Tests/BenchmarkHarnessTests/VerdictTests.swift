import BenchmarkHarness
import Testing

@Suite("Verdicts")
struct VerdictTests {
    @Test(
        "The report line holds name, figure, bar and verdict",
        arguments: [
            (1.42, Bar.atMost(2), "codable/encode-10 1.42 ≤2.0 holds"),
            (2.0, .atMost(2), "codable/encode-10 2.00 ≤2.0 holds"),
            (2.01, .atMost(2), "codable/encode-10 2.01 ≤2.0 falls short"),
            (0.5, .atLeast(0.5), "codable/encode-10 0.50 ≥0.5 holds"),
            (0.49, .atLeast(0.5), "codable/encode-10 0.49 ≥0.5 falls short"),
            (1.1, .atMost(1.15), "codable/encode-10 1.10 ≤1.15 holds"),
            (0.07, .atMost(12), "codable/encode-10 0.07 ≤12.0 holds"),
            (.nan, .atMost(2), "codable/encode-10 nan ≤2.0 falls short"),
            (.nan, .atLeast(2), "codable/encode-10 nan ≥2.0 falls short"),
            (0.93, .none, "codable/encode-10 0.93 – holds"),
            (.nan, .none, "codable/encode-10 nan – falls short"),
            (.infinity, .atMost(2), "codable/encode-10 inf ≤2.0 falls short"),
        ]
    )
    func line(value: Double, bar: Bar, line: String) {
        #expect(Verdict(name: "codable/encode-10", value: value, bar: bar).description == line)
    }

    @Test("A verdict is about the rounded number that the line shows")
    func rounding() {
        let figure = Figure(2.004, detail: "")
        #expect(Verdict(name: "a/b", value: figure.value, bar: .atMost(2)).holds)
        #expect(
            !Verdict(name: "a/b", value: Figure(2.006, detail: "").value, bar: .atMost(2)).holds
        )
    }
}
