import Foundation

/// Finds secrets in text, in the forms in which a server repeats what it was sent.
///
/// The text is read as it is, and again without one layer of escapes (of addresses, of JSON and of
/// HTML) for as long as there is one; any of these readings may hold a secret as it is, in
/// hexadecimal digits, or within base64. Letters count in either case.
struct SecretSearch: Sendable {
    /// The most bytes that are searched.
    private static let longest = 65_536
    /// What is shorter is no secret, and may be part of any word.
    private static let shortest = 8
    /// Layers of escapes that are looked under.
    private static let deepest = 8

    /// All forms of the secrets by their first byte, the longest first.
    private let forms: [UInt8: [[UInt8]]]

    init(_ secrets: some Sequence<String>) {
        var forms: Set<[UInt8]> = []
        for secret in Set(secrets) where secret.utf8.count >= Self.shortest {
            for text in [secret, WebCredentials.escaped(secret)] {
                let bytes = Array(text.utf8)
                forms.insert(bytes)
                forms.insert(Array(Self.hexadecimal(bytes).utf8))
                forms.formUnion(Self.base64(bytes))
            }
        }
        self.forms = Dictionary(
            grouping: forms.lazy.filter { $0.count >= Self.shortest }.map { $0.map(\.lowercase) },
            by: { $0[0] }
        ).mapValues { $0.sorted { $0.count > $1.count } }
    }

    /// The text with a mark in place of each secret.
    func replacing(_ mark: String, in text: String) -> String {
        // No error needs that much, and each reading of it takes several times its size and its time.
        guard text.utf8.count <= Self.longest else { return mark }
        let bytes = Array(text.utf8)
        var isSecret = [Bool](repeating: false, count: bytes.count)
        var reading = Reading(bytes)
        var found = note(reading, &isSecret)
        for _ in 0..<Self.deepest {
            guard let next = reading.unescaped() else { break }
            reading = next
            found = note(reading, &isSecret) || found
        }
        guard found else { return text }
        var clean: [UInt8] = []
        for index in bytes.indices {
            if !isSecret[index] {
                clean.append(bytes[index])
            } else if index == 0 || !isSecret[index - 1] {
                clean += mark.utf8
            }
        }
        return String(decoding: clean, as: UTF8.self)
    }

    /// Marks the bytes of secrets in a reading of a text.
    private func note(_ reading: Reading, _ isSecret: inout [Bool]) -> Bool {
        var found = false
        let bytes = reading.bytes
        for start in bytes.indices {
            guard let candidates = forms[bytes[start]] else { continue }
            let form = candidates.first { form in
                start + form.count <= bytes.count
                    && bytes[start..<(start + form.count)].elementsEqual(form)
            }
            guard let form else { continue }
            found = true
            let places = reading.places[start..<(start + form.count)]
            for place in places { for index in place { isSecret[index] = true } }
        }
        return found
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The characters that stand for the bytes alone, wherever in longer text these begin.
    private static func base64(_ bytes: [UInt8]) -> [[UInt8]] {
        (0..<3).flatMap { offset -> [[UInt8]] in
            let whole = Data(repeating: 0, count: offset) + bytes
            let first = (8 * offset + 5) / 6
            let characters = Array(whole.base64EncodedString().utf8.prefix(8 * whole.count / 6))
                .dropFirst(first)
            let forAddresses = characters.map { character -> UInt8 in
                switch character {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: character
                }
            }
            return [Array(characters), forAddresses]
        }
    }
}

/// A text as it reads without some layers of escapes.
private struct Reading {
    /// The bytes, with lower-case letters.
    private(set) var bytes: [UInt8] = []
    /// Where in the text each byte comes from.
    private(set) var places: [Range<Int>] = []

    init(_ text: [UInt8]) {
        bytes = text.map(\.lowercase)
        places = text.indices.map { $0..<($0 + 1) }
    }

    private init() {}

    /// The text without one more layer; nil where there are no escapes.
    func unescaped() -> Reading? {
        var reading = Reading()
        var index = 0
        var hasEscapes = false
        while index < bytes.count {
            guard let escape = escape(at: index) else {
                reading.bytes.append(bytes[index])
                reading.places.append(places[index])
                index += 1
                continue
            }
            let end = index + escape.length
            let place = places[index].lowerBound..<places[end - 1].upperBound
            for byte in escape.meaning {
                reading.bytes.append(byte.lowercase)
                reading.places.append(place)
            }
            hasEscapes = true
            index = end
        }
        return hasEscapes ? reading : nil
    }

    private typealias Escape = (length: Int, meaning: [UInt8])

    private func escape(at index: Int) -> Escape? {
        switch bytes[index] {
        case UInt8(ascii: "%"): digits(at: index, after: "%", count: 2)
        case UInt8(ascii: "\\"):
            digits(at: index, after: "\\u", count: 4) ?? digits(at: index, after: "\\x", count: 2)
                ?? Self.marks.lazy.compactMap { word("\\\($0)", at: index, $0) }.first
        case UInt8(ascii: "&"): reference(at: index)
        default: nil
        }
    }

    /// A sign and so many hexadecimal digits.
    private func digits(at index: Int, after sign: String, count: Int) -> Escape? {
        let start = index + sign.utf8.count
        guard start + count <= bytes.count, bytes[index..<start].elementsEqual(sign.utf8),
            let value = number(start..<(start + count), radix: 16)
        else { return nil }
        // Two digits are a byte, more of them a character.
        let meaning = count == 2 ? [UInt8(truncatingIfNeeded: value)] : Self.bytes(of: value)
        return meaning.map { (sign.utf8.count + count, $0) }
    }

    /// A reference of HTML to a character, by its number or its name.
    private func reference(at index: Int) -> Escape? {
        if let named = Self.names.lazy.compactMap({ word($0.key, at: index, $0.value) }).first {
            return named
        }
        let rest = bytes[index...].prefix(12)
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")), rest.starts(with: "&#".utf8) else {
            return nil
        }
        let isHexadecimal = rest.dropFirst(2).first == UInt8(ascii: "x")
        let range = (index + (isHexadecimal ? 3 : 2))..<max(end, index + 3)
        let value = number(range, radix: isHexadecimal ? 16 : 10)
        return value.flatMap(Self.bytes).map { (end + 1 - index, $0) }
    }

    private static func bytes(of character: UInt32) -> [UInt8]? {
        Unicode.Scalar(character).map { Array(String($0).utf8) }
    }

    private static let marks: [Character] = ["\"", "\\", "/"]

    private static let names: [String: Character] = [
        "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&apos;": "'", "&plus;": "+",
        "&sol;": "/", "&equals;": "=",
    ]

    private func number(_ range: Range<Int>, radix: Int) -> UInt32? {
        guard !range.isEmpty, range.allSatisfy({ bytes[$0].isLetterOrDigit }) else { return nil }
        return UInt32(String(decoding: bytes[range], as: UTF8.self), radix: radix)
    }

    private func word(_ word: String, at index: Int, _ meaning: Character) -> Escape? {
        guard bytes[index...].starts(with: word.utf8) else { return nil }
        return (word.utf8.count, Array(meaning.utf8))
    }
}

extension UInt8 {
    fileprivate var lowercase: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self
    }

    /// Whether this is a digit of a number, which has no sign.
    fileprivate var isLetterOrDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
    }
}
