/// The drawing of a target's rooms in docs/internals/architecture.md: a heading with the target's folder, and
/// a diagram whose arrows mean "may use, and whatever that one may use".
struct RoomDrawing {
    var target: String
    var arrows: Set<Rooms.Arrow> = []
    var names: Set<String> { Set(arrows.flatMap { [$0.from, $0.to] }) }

    /// Returns the drawings of a page.
    static func all(in page: String) -> [RoomDrawing] {
        var drawings: [RoomDrawing] = []
        for line in page.split(separator: "\n") {
            if let heading = line.wholeMatch(of: /### `([\w\/]+)`/) {
                drawings.append(RoomDrawing(target: String(heading.output.1)))
            } else if !drawings.isEmpty,
                let arrow = line.wholeMatch(of: /\s+(\w+) (<?)--> ([\w &]+)/)
            {
                let from = String(arrow.output.1)
                for to in arrow.output.3.split(separator: " & ").map(String.init) {
                    drawings[drawings.count - 1].arrows.insert(.init(from: from, to: to))
                    guard !arrow.output.2.isEmpty else { continue }
                    drawings[drawings.count - 1].arrows.insert(.init(from: to, to: from))
                }
            } else if line.hasPrefix("## ") {
                // Diagrams above the first heading of a target, or below the next section, are of other things.
                drawings = drawings.filter { !$0.arrows.isEmpty }
                if !drawings.isEmpty { return drawings }
            }
        }
        return drawings
    }

    /// Returns what the code has and the drawing does not, and the other way round, one sentence each.
    func differences(from rooms: Rooms) -> [String] {
        var differences: [String] = []
        for name in rooms.names.subtracting(names).sorted() {
            differences.append("\(target): the room \(name) is missing from the drawing; add it")
        }
        for name in names.subtracting(rooms.names).sorted() {
            differences.append("\(target): there is no room \(name); remove it from the drawing")
        }
        for (arrow, types) in rooms.uses.sorted(by: { $0.key < $1.key }) {
            let back = Rooms.Arrow(from: arrow.to, to: arrow.from)
            let isPair = rooms.uses[back] != nil
            let isDrawn = arrows.contains(arrow) && arrows.contains(back)
            guard isPair ? !isDrawn : !reaches(arrow.to, from: arrow.from) else { continue }
            differences.append(
                "\(target): \(arrow.from) uses \(types.sorted().joined(separator: ", ")) of \(arrow.to), "
                    + (isPair ? "which uses it too" : "which the drawing does not show")
                    + "; move what both need into a room below them, or draw the arrow"
            )
        }
        for arrow in arrows.sorted() where rooms.uses[arrow] == nil {
            differences.append(
                "\(target): \(arrow.from) uses nothing of \(arrow.to); remove the arrow from the drawing"
            )
        }
        return differences
    }

    private func reaches(_ end: String, from start: String) -> Bool {
        var seen: Set<String> = [start]
        var next = [start]
        while let name = next.popLast() {
            for arrow in arrows where arrow.from == name && seen.insert(arrow.to).inserted {
                next.append(arrow.to)
            }
        }
        return seen.contains(end)
    }
}
