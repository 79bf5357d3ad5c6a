#if !canImport(Darwin) || PORTABLE_CLOUDKIT
/// An error for a check of the demonstration that failed.
struct DemoError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
#endif
