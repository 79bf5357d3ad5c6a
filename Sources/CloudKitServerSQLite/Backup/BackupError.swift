/// An error of a backup or a restore.
package struct BackupError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description of the error and its remedy.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
