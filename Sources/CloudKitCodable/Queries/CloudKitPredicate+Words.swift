import CloudKit

// Searches for words, in all text fields that have a searchable index.
extension CloudKitPredicate {
    /// Holds where one of the words is in a text of the record.
    public static func anyWord(of text: String) -> Self {
        words(in: text) { _ in ("self CONTAINS %@", [text]) }
    }

    /// Holds where all of the words are in texts of the record.
    public static func allWords(of text: String) -> Self {
        words(in: text) { words in
            let format = repeatElement("self CONTAINS %@", count: words.count)
            return (format.joined(separator: " AND "), words)
        }
    }

    private static func words(
        in text: String,
        _ condition: ([String]) -> (format: String, arguments: [String])
    ) -> Self {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard !words.isEmpty else {
            return Self(
                .failure(
                    CloudKitQueryError(Model.recordType, nil, "there is no word to search for")
                )
            )
        }
        let (format, arguments) = condition(words)
        return Self(format, arguments, .impossible("a search for words"))
    }
}
