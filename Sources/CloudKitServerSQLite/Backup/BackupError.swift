/// Why a backup could not be made or restored.
package struct BackupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and what to do about it.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
