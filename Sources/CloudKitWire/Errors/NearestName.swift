/// Finds the name that a mistyped one probably meant.
package enum NearestName {
    /// Returns the names nearest to a text, best first; none if all are too different.
    ///
    /// - Parameters:
    ///   - text: The mistyped name.
    ///   - names: The existing names.
    ///   - count: The maximum number of names to return.
    /// - Returns: The names.
    package static func all(
        to text: String,
        in names: some Sequence<String>,
        count: Int = 3
    ) -> [String] {
        let typed = Array(text.lowercased())
        let found = names.compactMap { name -> (distance: Int, name: String)? in
            let known = Array(name.lowercased())
            let distance = distance(typed, known)
            let isPrefix = typed.count > 2 && known.starts(with: typed)
            guard isPrefix || distance <= max(1, min(typed.count, known.count) / 3) else {
                return nil
            }
            return (isPrefix ? min(distance, 1) : distance, name)
        }
        return found.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
            .prefix(count).map(\.name)
    }

    /// Returns the end of an error message about a mistyped name, such as `; did you mean
    /// 'zones'?`; empty if no name is near.
    package static func advice(for text: String, in names: some Sequence<String>) -> String {
        let found = all(to: text, in: names).map { "'\($0)'" }
        return found.isEmpty ? "" : "; did you mean \(found.joined(separator: " or "))?"
    }

    /// Returns the number of letters to insert, delete, replace or swap with their neighbor.
    private static func distance(_ first: [Character], _ second: [Character]) -> Int {
        var before: [Int] = []
        var last = Array(0...second.count)
        for (row, letter) in first.enumerated() {
            var next = [row + 1]
            for (column, other) in second.enumerated() {
                var best = min(last[column + 1], next[column]) + 1
                best = min(best, last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
                    best = min(best, before[column - 1] + 1)
                }
                next.append(best)
            }
            (before, last) = (last, next)
        }
        return last[second.count]
    }
}
