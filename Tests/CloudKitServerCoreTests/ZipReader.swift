import Foundation
import Testing

/// Reads a zip archive strictly, without any code of the writer.
struct ZipReader {
    /// The files by path, with their bytes.
    private(set) var files: [String: Data] = [:]
    private(set) var paths: [String] = []

    init(_ archive: Data) throws {
        let bytes = [UInt8](archive)
        func number(_ place: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
        }
        let end = bytes.count - 22
        try #require(end >= 0 && number(end, 4) == 0x0605_4B50)
        let count = number(end + 10, 2)
        var place = number(end + 16, 4)
        try #require(number(end + 12, 4) == end - place)
        for _ in 0..<count {
            try #require(number(place, 4) == 0x0201_4B50)
            // Stored, not compressed.
            #expect(number(place + 10, 2) == 0)
            let checksum = number(place + 16, 4)
            let size = number(place + 24, 4)
            let length = number(place + 28, 2)
            let path = String(decoding: bytes[place + 46..<place + 46 + length], as: UTF8.self)
            let local = number(place + 42, 4)
            try #require(number(local, 4) == 0x0403_4B50)
            #expect(number(local + 14, 4) == checksum)
            #expect(number(local + 22, 4) == size)
            #expect(bytes[local + 30..<local + 30 + length].elementsEqual(path.utf8))
            let start = local + 30 + length
            let contents = Data(bytes[start..<start + size])
            #expect(Self.checksum(contents) == checksum)
            #expect(files.updateValue(contents, forKey: path) == nil)
            paths.append(path)
            place += 46 + length
        }
        #expect(place == end)
    }

    private static func checksum(_ data: Data) -> Int {
        var state: UInt32 = .max
        for byte in data {
            state ^= UInt32(byte)
            for _ in 0..<8 { state = state & 1 == 0 ? state >> 1 : state >> 1 ^ 0xEDB8_8320 }
        }
        return Int(~state)
    }
}
