import Foundation

/// A Swift file as text.
struct SourceFile {
    var path: String
    var text: String

    /// The lines without their ends.
    var lines: [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Returns whether a word stands anywhere in the text.
    ///
    /// Most files need no slower look at each line then.
    func mentions(_ word: String) -> Bool {
        Data(text.utf8).range(of: Data(word.utf8)) != nil
    }
}
