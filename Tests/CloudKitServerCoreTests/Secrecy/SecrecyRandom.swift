import ServerFixtures

/// Random numbers determined by a seed.
struct SecrecyRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.randomElement(using: &self)
    }

    mutating func one(_ texts: String...) -> String { texts[number(0...texts.count - 1)] }

    /// Returns a body with some of its parts exchanged, left out, or of another kind.
    mutating func mutate(_ json: JSON, _ words: [String]) -> JSON {
        if chance(12) { return junk(words) }
        switch json {
        case .array(var elements):
            if chance(10), let element = elements.randomElement(using: &self) {
                elements.append(element)
            }
            if chance(5), !elements.isEmpty { elements.removeLast() }
            return .array(elements.map { chance(40) ? mutate($0, words) : $0 })
        case .object(let members):
            var changed: [String: JSON] = [:]
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                if chance(6) { continue }
                changed[key] = chance(35) ? mutate(value, words) : value
            }
            return .object(changed)
        default: return chance(50) ? junk(words) : json
        }
    }

    private mutating func junk(_ words: [String]) -> JSON {
        switch number(0...8) {
        case 0: .null
        case 1: .bool(chance(50))
        case 2: .int(Int64.random(in: .min ... .max, using: &self))
        case 3: .double(1e300)
        case 4: .array([])
        case 5: .object([:])
        case 6: .string(String(repeating: "x", count: number(0...300)))
        default: .string(pick(words) ?? "")
        }
    }
}
