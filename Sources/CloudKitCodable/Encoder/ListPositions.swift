/// Positions for the elements of a list: increasing, and as many of the former ones as possible.
package struct ListPositions {
    /// The former position of an element.
    package struct Former {
        /// Nil for an element that is new in the list.
        package let position: Int?

        /// The tie-breaker for equal positions, as in loading.
        package let name: String

        package init(_ position: Int?, _ name: String) {
            // Larger positions leave no room; such an element gets a new position.
            self.position = position.flatMap { -limit...limit ~= $0 ? $0 : nil }
            self.name = name
        }

        fileprivate static func < (a: Former, b: Former) -> Bool {
            (a.position ?? .max, a.name) < (b.position ?? .max, b.name)
        }
    }

    /// The distance between neighbors when nothing was inserted between them: room for forty
    /// insertions in one place, each in the middle of the remaining gap.
    package static let distance = 1 << 44

    /// The distance between neighbors if the larger one would lead too far from zero.
    private static let leastDistance = 1 << 32

    /// The limit, in either direction, up to which the larger distance is used.
    private static let roomyLimit = 1 << 58

    /// The largest former position, in either direction, that is kept.
    private static let limit = 1 << 60

    /// The positions so far; nil for elements that have none yet.
    private var positions: [Int?]

    /// Returns positions for the elements in their order.
    ///
    /// If there is no room between two that could stay, some of them get new positions too.
    package static func positions(keeping former: [Former]) -> [Int] {
        var list = ListPositions(positions: [Int?](repeating: nil, count: former.count))
        for index in longestIncreasing(former) { list.positions[index] = former[index].position }
        var next = 0
        while next < former.count {
            if list.positions[next] == nil { list.fill(from: next) }
            next += 1
        }
        return list.positions.map { $0 ?? 0 }
    }

    // MARK: Room

    /// Assigns positions to the elements from an index to the next that has one, and to as many of
    /// their neighbors as necessary.
    private mutating func fill(from start: Int) {
        var range = start..<end(of: start)
        if !hasRoom(range, least: 1) {
            repeat { extend(&range) } while !hasRoom(range, least: Self.leastRoom(range.count))
        }
        for (index, position) in zip(range, spread(range)) { positions[index] = position }
    }

    /// Returns the minimum distance for elements that are given new positions together.
    ///
    /// The more elements there are, the longer they should last until the next time.
    private static func leastRoom(_ count: Int) -> Int { 1 << min(3 + count / 4, 40) }

    /// Returns the index of the first element after another that has a position.
    private func end(of start: Int) -> Int {
        positions[start...].firstIndex { $0 != nil } ?? positions.count
    }

    /// Adds the neighbor that leaves the larger gap, or that is nearer to an end of the list.
    private mutating func extend(_ range: inout Range<Int>) {
        let before = gap(range.lowerBound - 2, range.lowerBound - 1)
        let after = gap(range.upperBound, range.upperBound + 1)
        let isNearerToStart = range.lowerBound <= positions.count - range.upperBound
        if before > after || before == after && isNearerToStart {
            range = range.lowerBound - 1..<range.upperBound
        } else {
            positions[range.upperBound] = nil
            range = range.lowerBound..<end(of: range.upperBound)
        }
    }

    /// Returns the room between two neighbors; beyond the ends of the list there is always some.
    private func gap(_ index: Int, _ next: Int) -> Int {
        guard let low = position(index), let high = position(next) else { return Self.distance }
        return high - low
    }

    /// Returns the position of an element; nil beyond the ends of the list, and if it has none yet.
    private func position(_ index: Int) -> Int? {
        positions.indices.contains(index) ? positions[index] : nil
    }

    private func hasRoom(_ range: Range<Int>, least: Int) -> Bool {
        guard let low = position(range.lowerBound - 1), let high = position(range.upperBound)
        else { return true }
        return (high - low) / least > range.count
    }

    /// Returns positions for the elements of a range, between those of its neighbors.
    private func spread(_ range: Range<Int>) -> [Int] {
        let count = range.count
        switch (position(range.lowerBound - 1), position(range.upperBound)) {
        case (nil, nil):
            let distance = Self.distance(of: count, from: 0)
            return (0..<count).map { $0 * distance }
        case (let low?, nil):
            let distance = Self.distance(of: count, from: low)
            return (1...count).map { low + $0 * distance }
        case (nil, let high?):
            let distance = Self.distance(of: count, from: high)
            return (1...count).reversed().map { high - $0 * distance }
        case (let low?, let high?):
            let (step, rest) = (high - low).quotientAndRemainder(dividingBy: count + 1)
            return (1...count).map { low + $0 * step + min($0, rest) }
        }
    }

    /// Returns the distance between elements at an end of the list.
    private static func distance(of count: Int, from edge: Int) -> Int {
        let room = roomyLimit - min(abs(edge), roomyLimit)
        return room / distance >= count ? distance : leastDistance
    }

    // MARK: Unchanged elements

    /// Returns the indexes of a longest run of elements whose former positions increase.
    private static func longestIncreasing(_ former: [Former]) -> [Int] {
        // For each length, the run whose last element is the smallest, by the index of that element.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: former.count)
        for index in former.indices where former[index].position != nil {
            var (start, end) = (0, ends.count)
            // Most lists are in order: the element extends the longest run.
            if let last = ends.last, former[last] < former[index] { start = end }
            while start < end {
                let middle = (start + end) / 2
                if former[ends[middle]] < former[index] { start = middle + 1 } else { end = middle }
            }
            if start > 0 { previous[index] = ends[start - 1] }
            if start == ends.count { ends.append(index) } else { ends[start] = index }
        }
        var run: [Int] = []
        var next = ends.last ?? -1
        while next >= 0 {
            run.append(next)
            next = previous[next]
        }
        return run.reversed()
    }
}
