import CloudKit
import CloudKitCodable
import Support
import Testing

@Suite("Positions of children")
struct PositionTests {
    /// Returns the maximum number of elements of a list in ascending order, computed in the plain
    /// way.
    private func longest(_ former: [ListPositions.Former]) -> Int {
        var lengths: [Int] = []
        for (index, element) in former.enumerated() {
            guard let position = element.position else {
                lengths.append(0)
                continue
            }
            let before = (0..<index).filter { other in
                guard let place = former[other].position else { return false }
                return (place, former[other].name) < (position, element.name)
            }
            lengths.append(1 + (before.map { lengths[$0] }.max() ?? 0))
        }
        return lengths.max() ?? 0
    }

    @Test("They increase, and as many as can be stay as they were", arguments: [1, 2, 3])
    func random(seed: UInt64) {
        var chance = SeededRandom(seed: seed)
        var roomy = 0
        for _ in 0..<2000 {
            let scale = [1, 10, 1 << 20, 1 << 61].randomElement(using: &chance) ?? 1
            let former = (0..<Int.random(in: 0...12, using: &chance)).map { index in
                ListPositions.Former(
                    Int.random(in: 0...3, using: &chance) == 0
                        ? nil
                        : Int.random(in: -8...8, using: &chance).multipliedReportingOverflow(
                            by: scale
                        ).partialValue,
                    ["b", "a", "c"].randomElement(using: &chance).map { "\($0)\(index)" } ?? ""
                )
            }
            let positions = ListPositions.positions(keeping: former)
            #expect(positions.count == former.count)
            let loaded = zip(positions, former).map { ($0, $1.name) }
            for (one, next) in zip(loaded, loaded.dropFirst()) { #expect(one < next) }
            let stayed = zip(positions, former).count { $0 == $1.position }
            let known = former.compactMap(\.position).sorted()
            let hasRoom = zip(known, known.dropFirst()).allSatisfy { $1 - $0 > former.count }
            if hasRoom { roomy += 1 }
            #expect(hasRoom ? stayed == longest(former) : stayed <= longest(former))
        }
        #expect(roomy > 100)
    }

    @Test("Positions without room between them are given again up to the nearer end at most")
    func dense() {
        for index in 0...10 {
            var former = (0..<10).map { ListPositions.Former($0, "x") }
            former.insert(ListPositions.Former(nil, "new"), at: index)
            let positions = ListPositions.positions(keeping: former)
            #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 })
            let changed = zip(positions, former).count { $0 != $1.position }
            #expect(changed <= 1 + min(index, 10 - index))
        }
    }

    enum Place: CaseIterable {
        case second, behindTheLast, middle, nearby

        func index(_ last: Int, _ count: Int, _ chance: inout SeededRandom) -> Int {
            switch self {
            case .second: 1
            case .behindTheLast: last + 1
            case .middle: count / 2
            case .nearby: min(max(0, last + Int.random(in: -1...2, using: &chance)), count)
            }
        }

        /// The maximum number of elements that get positions in one of a hundred insertions, and in
        /// all of them.
        var most: (one: Int, all: Int) {
            switch self {
            case .second, .behindTheLast: (3, 105)
            case .middle, .nearby: (30, 200)
            }
        }
    }

    @Test(
        "Forty insertions in one place have room, and then few neighbors make some",
        arguments: Place.allCases
    )
    func room(place: Place) {
        var chance = SeededRandom(seed: 1)
        var former = (0..<50).map { ListPositions.Former($0 * ListPositions.distance, "\($0)") }
        var sent: [Int] = []
        var last = 25
        for round in 0..<100 {
            last = place.index(last, former.count, &chance)
            former.insert(ListPositions.Former(nil, "new\(round)"), at: last)
            let positions = ListPositions.positions(keeping: former)
            #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 })
            sent.append(zip(positions, former).count { $0 != $1.position })
            former = zip(positions, former).map { ListPositions.Former($0, $1.name) }
        }
        #expect(sent.prefix(40).allSatisfy { $0 == 1 })
        let (one, all) = place.most
        #expect(sent.allSatisfy { $0 <= one })
        #expect(sent.reduce(0, +) <= all)
        // Elements that make room do so for some time.
        #expect(sent.count { $0 == 1 } >= 85)
    }

    @Test("A list far longer than the roomy distance serves has positions all the same")
    func long() {
        let former = (0..<40_000).map { ListPositions.Former(nil, "\($0)") }
        let positions = ListPositions.positions(keeping: former)
        #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 })
        let known = positions.map { ListPositions.Former($0, "") }
        #expect(ListPositions.positions(keeping: known) == positions)
    }

    @Test("Positions that leave no room to count on are given again")
    func extremes() {
        let former = [Int.min, .max, nil, .max].map { ListPositions.Former($0, "x") }
        #expect(
            ListPositions.positions(keeping: former)
                == (0..<4).map { $0 * ListPositions.distance }
        )
    }
}
