/// Assigns the files of an archive paths that stay inside it, regardless of the names of records
/// and fields.
///
/// Every component consists of ASCII letters, digits, `-`, `_` and inner dots only, so that no name
/// leaves the folder into which an archive is unpacked, on any system.
struct ArchivePaths {
    private static let partLength = 100
    private var taken: Set<String> = ["manifest.json"]

    /// Returns a path that no other file of the archive has, even where letter case is ignored.
    mutating func path(record: String, field: String, number: Int?) -> String {
        let suffix = number.map { "-\($0)" } ?? ""
        let wanted = "assets/\(Self.part(record))/\(Self.part(field))\(suffix)"
        var path = wanted
        var next = 2
        while !taken.insert(path.lowercased()).inserted {
            path = "\(wanted)_\(next)"
            next += 1
        }
        return path
    }

    /// Returns the name of an archive without the extension, which clients may already have added.
    static func archive(_ name: String) -> String {
        let suffix = ".zip"
        let isNamed = name.lowercased().hasSuffix(suffix) && name.count > suffix.count
        return part(isNamed ? String(name.dropLast(suffix.count)) : name)
    }

    /// Returns a name as one component of a path.
    static func part(_ name: String) -> String {
        let safe = name.unicodeScalars.prefix(partLength).map { scalar -> Character in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": Character(scalar)
            default: "_"
            }
        }
        var part = String(safe)
        // The result is neither the parent folder nor a file that is hidden or that Windows would rename.
        if part.hasPrefix(".") { part = "_" + part.dropFirst() }
        if part.hasSuffix(".") { part = part.dropLast() + "_" }
        return part.isEmpty ? "_" : part
    }
}
