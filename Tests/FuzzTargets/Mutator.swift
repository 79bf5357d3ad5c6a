public import Foundation

/// Mutates inputs like a fuzzer, the same way in every run.
public struct Mutator {
    private var state: UInt64
    private let words: [[UInt8]] = [
        "null", "true", "[", "]", "{", "}", "\"", "\\u0000", "\\ud800", "-1", "1e999", "0.5",
        "9223372036854775807", "9223372036854775808", "STRING_LIST", "EQUALS", "IN", "NEAR",
        "QUERYABLE", "GRANT", "LIST<", "ENCRYPTED", "___recordID", "/*", "--", "%00", "..",
        "\u{FFFF}",
    ].map { Array($0.utf8) }

    public init(seed: UInt64) {
        state = seed
    }

    private mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % max(bound, 1)
    }

    /// Returns one of the inputs, changed in a few places or crossed with another.
    public mutating func mutation(of inputs: [Data]) -> Data {
        var bytes = Array(inputs[next(inputs.count)])
        for _ in 0...next(4) {
            let place = next(bytes.count + 1)
            switch next(6) {
            case 0: bytes.insert(UInt8(next(256)), at: place)
            case 1: bytes.insert(contentsOf: words[next(words.count)], at: place)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + next(8)))
            case 3: if place < bytes.count { bytes[place] ^= UInt8(1 << next(8)) }
            case 4: bytes.insert(contentsOf: bytes.dropFirst(place).prefix(1 + next(32)), at: place)
            default:
                let other = Array(inputs[next(inputs.count)])
                bytes = Array(bytes.prefix(place)) + other.dropFirst(next(other.count + 1))
            }
        }
        return Data(bytes)
    }
}
