/// The version of this package.
package enum PackageVersion {
    /// The version that is also in the manifest lines of the documents.
    package static let current = "0.1.0"
}
