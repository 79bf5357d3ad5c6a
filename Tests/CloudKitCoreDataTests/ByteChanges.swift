import Foundation

/// Changes bytes the same way in every run.
struct ByteChanges {
    var state: UInt64

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % max(bound, 1)
    }

    mutating func change(_ data: Data) -> Data {
        var bytes = Array(data)
        for _ in 0...next(4) where !bytes.isEmpty {
            let place = next(bytes.count)
            switch next(5) {
            case 0: bytes[place] ^= UInt8(1 << next(8))
            case 1: bytes[place] = UInt8(next(256))
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + next(16)))
            case 3: bytes.insert(contentsOf: bytes[place...].prefix(next(64)), at: next(place))
            default: bytes.removeLast(next(min(64, bytes.count)))
            }
        }
        return Data(bytes)
    }
}
