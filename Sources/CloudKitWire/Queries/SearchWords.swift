// All of Foundation, because its essentials lack the canonical decomposition of text.
import Foundation

/// The words of a text, as searches compare them: the service's index, the service's checks and
/// predicates in memory share this definition.
///
/// A word is a run of letters and digits, or one symbol such as an emoji; case, accents and the
/// composition of letters do not count. Ignored words are recognised before their accents are
/// removed: French tea, thé, is not an English article.
package struct SearchWords: Hashable, Sendable {
    /// The folded words that count, without those that occur in most texts.
    package private(set) var counting: Set<String> = []
    /// `true` when there is no word at all, not even an ignored one.
    package private(set) var isEmpty = true

    /// Creates the set of words in a text.
    package init(_ text: String) { add(text) }

    /// Creates the set of words in several texts.
    package init(_ texts: some Sequence<String>) {
        for text in texts { add(text) }
    }

    /// The words that searches ignore, as Apple's reference lists them.
    package static let ignored: Set<String> = [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is",
        "it", "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there",
        "these", "they", "this", "to", "was", "will", "with",
    ]
    private static let longestIgnored = ignored.map(\.utf8.count).max() ?? 0

    private mutating func add(_ text: String) {
        if !addASCII(text) { addUnicode(text) }
    }

    private mutating func insert(_ word: String) {
        isEmpty = false
        let isIgnored = word.utf8.count <= Self.longestIgnored && Self.ignored.contains(word)
        if !isIgnored { counting.insert(word) }
    }

    /// Adds a word as written in a text.
    private mutating func insert(written word: String) {
        isEmpty = false
        if !Self.ignored.contains(word.lowercased()) { counting.insert(Self.folded(word)) }
    }

    /// Adds the words of text that is all ASCII; for other text, returns false and adds no wrong
    /// words.
    private mutating func addASCII(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        var word: [UInt8] = []
        func isInWord(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: false
            }
        }
        for byte in text.utf8 {
            if isInWord(byte) {
                word.append(0x41...0x5A ~= byte ? byte | 0x20 : byte)
            } else if !word.isEmpty {
                insert(String(decoding: word, as: UTF8.self))
                word.removeAll(keepingCapacity: true)
            }
        }
        if !word.isEmpty { insert(String(decoding: word, as: UTF8.self)) }
        return true
    }

    private mutating func addUnicode(_ text: String) {
        var word = ""
        func isSymbol(_ character: Character) -> Bool {
            guard let first = character.unicodeScalars.first, !first.isASCII else { return false }
            return first.properties.generalCategory == .otherSymbol
                || first.properties.isEmojiPresentation
        }
        for character in text {
            if character.isLetter || character.isNumber {
                word.append(character)
                continue
            }
            if !word.isEmpty { insert(written: word) }
            word = ""
            if isSymbol(character) { insert(written: String(character)) }
        }
        if !word.isEmpty { insert(written: word) }
    }

    /// Returns a word without case, accents and presentation marks, in one canonical form.
    private static func folded(_ word: String) -> String {
        var bare = String.UnicodeScalarView()
        for scalar in word.decomposedStringWithCanonicalMapping.unicodeScalars
        where !isAccent(scalar) {
            bare.append(scalar)
        }
        // Converts to upper case first, because then ß and ss, ς and σ are equal.
        return String(bare).uppercased().lowercased().decomposedStringWithCanonicalMapping
    }

    /// Returns whether a scalar is an accent, a Hebrew or Arabic point, or only selects a glyph.
    ///
    /// Marks of other scripts distinguish words.
    private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0300...0x036F, 0x0591...0x05BD, 0x05BF, 0x05C1...0x05C2, 0x05C4...0x05C5, 0x05C7,
            0x064B...0x065F, 0x0670, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF,
            0xFE00...0xFE0F, 0xFE20...0xFE2F:
            true
        default: false
        }
    }
}
