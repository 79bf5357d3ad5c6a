extension StoreSimulation {
    /// Random numbers that depend on a seed alone (SplitMix64).
    public struct Randomness: RandomNumberGenerator, Sendable {
        private var state: UInt64

        init(seed: UInt64) { state = seed }

        /// Returns the next 64 bits.
        public mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }

        /// Returns `true` in a percentage of cases.
        public mutating func chance(_ percent: Int) -> Bool { number(0..<100) < percent }

        /// Returns a number of a range.
        public mutating func number(_ range: Range<Int>) -> Int {
            Int.random(in: range, using: &self)
        }

        /// Returns an element of a list that is not empty.
        mutating func one<Element>(of list: [Element]) -> Element { list[number(0..<list.count)] }
    }
}
