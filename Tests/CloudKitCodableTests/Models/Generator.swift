import CloudKit
import Foundation

/// A generator of random values that are the same for the same seed.
struct Generator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    /// Returns any value that a record can hold, often not the one that a property requires.
    mutating func value(depth: Int = 0) -> (any CKRecordValue)? {
        let bytes = [
            "null", "[]", "{}", "[1,", "{\"name\":", "\"text\"", "7", "[null]", "\u{FFFD}", "",
            "{\"circle\":{\"radius\":1}}", "[\"a\",1]",
        ]
        switch Int.random(in: 0..<(depth == 0 ? 12 : 10), using: &self) {
        case 0:
            return ["", "green", "https://example.com", "x;y", "1.5", "\u{0}"].randomElement(
                using: &self
            )!
        case 1: return Int64.random(in: .min ... .max, using: &self)
        case 2: return Int64.random(in: -2...300, using: &self)
        case 3: return [0.5, .nan, .infinity, 3, -1e300].randomElement(using: &self)!
        case 4: return Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &self))
        case 5: return Data(bytes.randomElement(using: &self)!.utf8)
        case 6: return Data((0..<8).map { _ in UInt8.random(in: .min ... .max, using: &self) })
        case 7:
            return CKRecord.Reference(
                recordID: CKRecord.ID(recordName: "r\(Int.random(in: 0..<4, using: &self))"),
                action: .none
            )
        case 8: return CLLocation(latitude: 1, longitude: 2)
        case 9: return CKAsset(fileURL: URL(filePath: "/nowhere/at/all"))
        case 10:
            let first = value(depth: 1)
            return first.map { NSArray(array: [$0, $0]) } ?? NSArray()
        default: return nil
        }
    }
}
