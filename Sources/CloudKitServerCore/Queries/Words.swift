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

    /// The words of text, in lower case: runs of letters and digits.
    static func of(_ text: String) -> Set<String> {
        Set(
            text.split { !($0.isLetter || $0.isNumber) }
                .map { String($0.lowercased()) }
        )
    }
}
