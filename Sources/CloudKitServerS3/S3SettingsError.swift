#if S3
/// An error in the address, the environment or the bucket of an S3 storage, with its remedy.
package struct S3SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description of the error and its remedy.
    package let description: String

    init(_ description: String) { self.description = description }
}
#endif
