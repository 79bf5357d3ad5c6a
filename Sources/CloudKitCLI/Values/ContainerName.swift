/// The rule for containers' identifiers.
enum ContainerName {
    /// Returns the problem of a container's identifier; nil when it is valid.
    static func problem(_ name: String) -> String? {
        let isFit = name.utf8.allSatisfy {
            (0x21...0x7E).contains($0) && !"/?#%\\\"'".utf8.contains($0)
        }
        guard name.isEmpty || name.utf8.count > 255 || !isFit else { return nil }
        return "'\(name)' is not a container; a name looks like iCloud.com.example.app"
    }
}
