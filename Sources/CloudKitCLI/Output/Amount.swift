/// A number of things in words, such as `1 record` and `2 records`.
package enum Amount {
    /// The number with its noun.
    ///
    /// - Parameters:
    ///   - count: How many there are.
    ///   - noun: One of them.
    ///   - nouns: Several of them; nil for those that take an s.
    /// - Returns: The text.
    package static func text(_ count: Int, _ noun: String, _ nouns: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : nouns ?? noun + "s")"
    }
}
