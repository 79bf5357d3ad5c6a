import Support

extension SeededChance {
    /// Makes the chance of a schedule; those of neighbours have nothing in common.
    init(schedule: UInt64) {
        self.init(seed: schedule &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678)
    }

    /// True in about one of `of` cases.
    mutating func one(of count: Int) -> Bool { Int(next() % UInt64(count)) == 0 }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }

    mutating func element<Element>(of elements: [Element]) -> Element {
        elements[Int(next() % UInt64(elements.count))]
    }
}
