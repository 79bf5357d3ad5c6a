#if !canImport(Darwin) || PORTABLE_CLOUDKIT
/// Why the demonstration failed: one of its checks did not hold.
struct DemoError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
#endif
