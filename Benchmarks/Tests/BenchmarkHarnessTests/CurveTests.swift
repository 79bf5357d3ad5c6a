import BenchmarkHarness
import Testing

@Suite("Curves")
struct CurveTests {
    private let curve = Curve(
        "lookup",
        "µs",
        [
            Curve.Point(count: 1000, value: 310.4),
            Curve.Point(count: 10_000, value: 31.84),
            Curve.Point(count: 100_000, value: 0.126),
        ]
    )

    @Test("A line holds the name, the unit and the values with three digits that count")
    func line() {
        #expect(curve.line == "lookup, µs: 310 at 1000, 31.8 at 10000, 0.13 at 100000")
    }

    @Test("The drawing has each value and the caption, in which no character is markup")
    func drawing() {
        let svg = CurveChart([curve], caption: "bench grow, 2 processors, a < b & c").svg
        #expect(svg.contains(">310</text>"))
        #expect(svg.contains(">100000</text>"))
        #expect(svg.contains("a &lt; b &amp; c</text>"))
        #expect(svg.hasPrefix("<svg"))
        #expect(svg.hasSuffix("</svg>\n"))
    }
}
