import CloudKit

// The order of a list of children is a number in each child's record. The numbers have room between
// them, so that a child that is inserted or moved sends its own record alone.
extension GraphEncoding {
    /// What the name of a child's position has behind that of the reference to its owner.
    static let positionSuffix = "_position"

    /// Gives every child of an ordered list its position.
    func setPositions() {
        for (field, owners) in lists.orders {
            let name = field + Self.positionSuffix
            for children in owners.values {
                let former = children.map {
                    ListPositions.Former($0.field(name, as: Int.self), $0.recordID.recordName)
                }
                for (child, position) in zip(children, ListPositions.positions(keeping: former)) {
                    child.set(position, name)
                }
            }
        }
    }
}

/// Positions for the elements of a list: increasing, and as many as possible the former ones.
package enum ListPositions {
    /// The former position of an element.
    package struct Former {
        /// Nil for an element that is new in the list.
        package let position: Int?

        /// Orders elements of one position, as loading does.
        package let name: String

        package init(_ position: Int?, _ name: String) {
            // Others leave no room to count on; such an element gets a new position.
            self.position = position.flatMap { -limit...limit ~= $0 ? $0 : nil }
            self.name = name
        }

        fileprivate static func < (a: Former, b: Former) -> Bool {
            (a.position ?? .max, a.name) < (b.position ?? .max, b.name)
        }
    }

    /// The distance of neighbors that nothing was inserted between: room for thirty insertions in
    /// one place, each in the middle of what is left.
    package static let distance = 1 << 32

    /// The least distance that neighbors get where room was used up, so that it is not used up again
    /// by the next insertion.
    private static let newDistance = 1 << 16

    /// The largest former position that is kept, either way from zero.
    static let limit = 1 << 60

    /// Positions for the elements in their order.
    ///
    /// Where there is no room before one that could stay, that one gets a new position too.
    package static func positions(keeping former: [Former]) -> [Int] {
        let kept = longestIncreasing(former)
        var positions: [Int] = []
        positions.reserveCapacity(former.count)
        var low: Int?
        var least = 1
        for index in kept {
            let high = former[index].position
            let count = index - positions.count
            guard let between = spread(count, from: low, to: high, least: least) else {
                // This one gives way, and others until there is room for some time.
                least = newDistance
                continue
            }
            least = 1
            positions += between
            high.map { positions.append($0) }
            low = high
        }
        return positions + (spread(former.count - positions.count, from: low, to: nil) ?? [])
    }

    /// Positions between two others, neither included; nil where there are too few.
    private static func spread(
        _ count: Int,
        from low: Int?,
        to high: Int?,
        least: Int = 1
    ) -> [Int]? {
        switch (low, high) {
        case _ where count == 0: return []
        case (nil, nil): return (0..<count).map { $0 * distance }
        case (let low?, nil): return (1...count).map { low + $0 * distance }
        case (nil, let high?): return (1...count).reversed().map { high - $0 * distance }
        case (let low?, let high?):
            guard (high - low) / least > count else { return nil }
            let (step, rest) = (high - low).quotientAndRemainder(dividingBy: count + 1)
            return (1...count).map { low + $0 * step + min($0, rest) }
        }
    }

    /// The indexes of a longest run of elements whose former positions increase.
    private static func longestIncreasing(_ former: [Former]) -> [Int] {
        // For each length the run whose last element is the smallest, by the index of that element.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: former.count)
        for index in former.indices where former[index].position != nil {
            var (start, end) = (0, ends.count)
            // Most lists are in order: the element belongs behind the longest run.
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

extension CKRecord {
    /// Sets a field, unless it has this value.
    func set<Value: CKRecordValueProtocol & Equatable>(_ value: Value, _ name: String) {
        if field(name, as: Value.self) != value { self[name] = value }
    }
}
