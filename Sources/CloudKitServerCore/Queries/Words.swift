import CloudKitWire

/// The words of text, as full-text filters compare them.
enum Words {
    /// The words of a string or of a list of strings, in lower case.
    static func of(_ value: WireValue) -> Set<String> {
        switch value {
        case .string(let text): of(text)
        case .list(let values, _): values.reduce(into: []) { $0.formUnion(of($1)) }
        default: []
        }
    }

    /// The words of text of ASCII alone; nil for other text.
    private static func ofASCII(_ text: String) -> Set<String>? {
        var words: Set<String> = []
        var word: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x61...0x7A: word.append(byte)
            case 0x41...0x5A: word.append(byte | 0x20)
            case 0x80...: return nil
            default:
                guard !word.isEmpty else { continue }
                words.insert(String(decoding: word, as: UTF8.self))
                word.removeAll(keepingCapacity: true)
            }
        }
        if !word.isEmpty { words.insert(String(decoding: word, as: UTF8.self)) }
        return words
    }

    /// The words of text, in lower case: runs of letters and digits.
    static func of(_ text: String) -> Set<String> {
        ofASCII(text)
            ?? Set(
                text.split { !($0.isLetter || $0.isNumber) }
                    .map { String($0.lowercased()) }
            )
    }
}
