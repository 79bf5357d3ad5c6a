import Support

extension SeededRandom {
    mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &self) }
}
