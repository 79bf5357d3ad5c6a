import Foundation

/// A drawing of curves, each in a panel of its own, with the same scale in all: how many times the
/// value of the fewest records each point has.
public struct CurveChart: Sendable {
    private let curves: [Curve]
    private let caption: String

    private let columns = 2
    private let width = 360.0
    private let height = 150.0
    private let margin = 40.0
    /// The factor at the top of each panel; the bottom is its reciprocal.
    private let most = 10.0

    /// Creates a drawing with a caption that names the command and the conditions.
    public init(_ curves: [Curve], caption: String) {
        self.curves = curves
        self.caption = caption
    }

    /// The drawing as SVG.
    public var svg: String {
        let rows = (curves.count + columns - 1) / columns
        let (full, tall) = (Double(columns) * width, Double(rows) * height + 2 * margin)
        let panels = curves.enumerated().map { index, curve in
            panel(curve, Double(index % columns) * width, Double(index / columns) * height)
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(full) \(tall)" \
            font-family="sans-serif" font-size="11">
            <title>Growth with the number of records</title>
            <rect width="100%" height="100%" fill="white"/>
            \(panels.joined(separator: "\n"))
            <text x="\(margin)" y="\(tall - margin / 2)" fill="#555">\(escaped(caption))</text>
            </svg>

            """
    }

    private func panel(_ curve: Curve, _ left: Double, _ top: Double) -> String {
        let first = curve.points.first?.value ?? 1
        let places = curve.points.enumerated().map { index, point in
            let x = left + margin + Double(index) * (width - 2 * margin) / 3
            let factor = min(max(point.value / first, 1 / most), most)
            let y = top + margin + (height - margin - 20) * (1 - decades(factor)) / 2
            return (x: x, y: y, point: point)
        }
        let path = places.map { "\($0.x),\($0.y)" }.joined(separator: " ")
        let labels = places.map { place in
            """
            <circle cx="\(place.x)" cy="\(place.y)" r="3" fill="#06c"/>
            <text x="\(place.x)" y="\(place.y - 7)" text-anchor="middle">\
            \(Curve.text(place.point.value))</text>
            <text x="\(place.x)" y="\(top + height)" text-anchor="middle" fill="#777">\
            \(place.point.count)</text>
            """
        }
        return """
            <text x="\(left + margin - 10)" y="\(top + 22)" font-weight="bold">\
            \(escaped(curve.name)), \(escaped(curve.unit))</text>
            <polyline points="\(path)" fill="none" stroke="#06c" stroke-width="1.5"/>
            \(labels.joined(separator: "\n"))
            """
    }

    /// Returns the place of a factor between -1, at the bottom, and 1, at the top.
    private func decades(_ factor: Double) -> Double {
        log(factor) / log(most)
    }

    private func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
