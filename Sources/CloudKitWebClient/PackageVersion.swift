/// The version of this package.
package enum PackageVersion {
    /// Stands here and in the manifest lines of the documents.
    package static let current = "0.1.0"
}
