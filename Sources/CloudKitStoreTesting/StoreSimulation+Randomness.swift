import CloudKitServerCore

extension StoreSimulation {
    /// Random numbers that depend on a seed alone.
    public struct Randomness: RandomNumberGenerator, Sendable {
        private var generator: SeededGenerator

        init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

        /// Returns the next 64 bits.
        public mutating func next() -> UInt64 { generator.next() }

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
