/// A Swift file as text.
struct SourceFile {
    var path: String
    var text: String

    /// The lines without their ends.
    var lines: [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }
}
