import Support

extension SeededRandom {
    /// Creates the random numbers of a schedule, unrelated to those of its neighbours.
    init(schedule: UInt64) {
        self.init(seed: schedule &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678)
    }

    /// Returns `true` in about one of `count` cases.
    mutating func one(of count: Int) -> Bool { Int(next() % UInt64(count)) == 0 }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }

    mutating func element<Element>(of elements: [Element]) -> Element {
        elements[Int(next() % UInt64(elements.count))]
    }
}
