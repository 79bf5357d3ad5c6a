/// A number with its noun, such as `1 record` and `2 records`.
package enum Amount {
    /// Returns a number with its noun.
    ///
    /// - Parameters:
    ///   - count: The number.
    ///   - noun: The singular.
    ///   - nouns: The plural; nil for the singular with an s.
    /// - Returns: The text.
    package static func text(_ count: Int, _ noun: String, _ nouns: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : nouns ?? noun + "s")"
    }
}
