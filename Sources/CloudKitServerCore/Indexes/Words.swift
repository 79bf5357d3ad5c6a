import CloudKitWire

/// The words of values in full-text filters.
enum Words {
    /// Returns the significant words of a string or of a list of strings.
    static func of(_ value: WireValue) -> Set<String> { found(in: value).counting }

    /// Returns the words of a string or of a list of strings.
    static func found(in value: WireValue) -> SearchWords { SearchWords(texts(of: value)) }

    private static func texts(of value: WireValue) -> [String] {
        switch value {
        case .string(let text): [text]
        case .list(let values, _): values.flatMap(texts)
        default: []
        }
    }
}
