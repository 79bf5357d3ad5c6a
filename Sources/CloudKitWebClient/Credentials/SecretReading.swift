import Foundation

/// A text in one of its possible readings.
struct SecretReading {
    /// The bytes of the reading.
    private(set) var bytes: [UInt8] = []
    /// The ranges of the text from which the bytes come.
    private(set) var places: [Range<Int>] = []

    /// Creates the reading of the text as it is.
    init(_ text: String) {
        bytes = Array(text.utf8)
        places = bytes.indices.map { $0..<($0 + 1) }
    }

    init() {}

    mutating func append(_ byte: UInt8, from place: Range<Int>) {
        bytes.append(byte)
        places.append(place)
    }

    mutating func append(_ other: SecretReading) {
        bytes += other.bytes
        places += other.places
    }

    /// Returns the range of the text from which some of the bytes come.
    func place(of range: Range<Int>) -> Range<Int> {
        places[range.lowerBound].lowerBound..<places[range.upperBound - 1].upperBound
    }

    /// Further readings of the text.
    var further: [SecretReading] {
        [unescaped()].compactMap(\.self) + decoded.filter { !$0.bytes.isEmpty }
    }
}

// MARK: - Escapes

extension SecretReading {
    private typealias Escape = (length: Int, meaning: [UInt8])

    /// Returns the text without a layer of escapes, and with plain letters for wide or accented ones;
    /// nil if there are none.
    private func unescaped() -> SecretReading? {
        var reading = SecretReading()
        var index = 0
        while index < bytes.count {
            let escape = escape(at: index)
            let end = index + (escape?.length ?? 1)
            for byte in escape?.meaning ?? [bytes[index]] {
                reading.append(byte, from: place(of: index..<end))
            }
            index = end
        }
        return reading.bytes == bytes ? nil : reading
    }

    private func escape(at index: Int) -> Escape? {
        switch bytes[index] {
        case UInt8(ascii: "%"): digits(at: index, after: "%", count: 2)
        case UInt8(ascii: "\\"):
            digits(at: index, after: "\\u", count: 4) ?? digits(at: index, after: "\\x", count: 2)
                ?? Self.marks.lazy.compactMap { word("\\\($0.key)", at: index, $0.value) }.first
        case UInt8(ascii: "&"): reference(at: index)
        case 0x80...: adorned(at: index)
        default: nil
        }
    }

    /// Returns the escape that a prefix and a number of hexadecimal digits form.
    private func digits(at index: Int, after sign: String, count: Int) -> Escape? {
        let start = index + sign.utf8.count
        guard start + count <= bytes.count, word(sign, at: index, "\0") != nil,
            let value = bytes[start..<(start + count)].number(radix: 16)
        else { return nil }
        // Two digits are a byte, more of them a character.
        let meaning = count == 2 ? [UInt8(truncatingIfNeeded: value)] : Self.bytes(of: value)
        return meaning.map { (sign.utf8.count + count, $0) }
    }

    /// Returns the HTML character reference at an index, by number or by name.
    private func reference(at index: Int) -> Escape? {
        if let named = Self.names.lazy.compactMap({ word($0.key, at: index, $0.value) }).first {
            return named
        }
        let rest = bytes[index...].prefix(12)
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")), rest.starts(with: "&#".utf8) else {
            return nil
        }
        let isHexadecimal = rest.dropFirst(2).first?.lowercase == UInt8(ascii: "x")
        let range = (index + (isHexadecimal ? 3 : 2))..<max(end, index + 3)
        let value = bytes[range].number(radix: isHexadecimal ? 16 : 10)
        return value.flatMap(Self.bytes).map { (end + 1 - index, $0) }
    }

    /// Returns the plain form of a letter or digit of another width or with an accent, for example a
    /// full-width one.
    private func adorned(at index: Int) -> Escape? {
        let length = bytes[index] < 0xe0 ? 2 : bytes[index] < 0xf0 ? 3 : 4
        guard let text = String(validating: bytes[index...].prefix(length), as: UTF8.self) else {
            return nil
        }
        let plain = text.decomposedStringWithCompatibilityMapping.utf8
            .filter { $0.digit(radix: 36) != nil }
        return plain.isEmpty ? nil : (length, plain)
    }

    private static func bytes(of character: UInt32) -> [UInt8]? {
        Unicode.Scalar(character).map { Array(String($0).utf8) }
    }

    private static let marks: [Character: Character] = [
        "\"": "\"", "\\": "\\", "/": "/", "n": "\n", "r": "\r", "t": "\t",
    ]

    private static let names: [String: Character] = [
        "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&apos;": "'", "&plus;": "+",
        "&sol;": "/", "&equals;": "=",
    ]

    private func word(_ word: String, at index: Int, _ meaning: Character) -> Escape? {
        let found = bytes[index...].prefix(word.utf8.count)
        guard found.elementsEqual(word.utf8, by: { $0.lowercase == $1.lowercase }) else {
            return nil
        }
        return (word.utf8.count, Array(meaning.utf8))
    }
}

extension UInt8 {
    /// Returns the value of a letter or digit in a number, in either case.
    func digit(radix: UInt8) -> UInt8? {
        let value: UInt8
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = self - UInt8(ascii: "A") + 10
        default: return nil
        }
        return value < radix ? value : nil
    }

    fileprivate var lowercase: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self
    }
}

extension Collection<UInt8> {
    /// Returns the number that at most eight digits form, without a prefix.
    func number(radix: UInt8) -> UInt32? {
        guard (1...8).contains(count) else { return nil }
        var number: UInt32 = 0
        for byte in self {
            guard let digit = byte.digit(radix: radix) else { return nil }
            number = number * UInt32(radix) + UInt32(digit)
        }
        return number
    }
}
