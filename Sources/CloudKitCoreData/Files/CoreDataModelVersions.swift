public import Foundation

/// The versions of a model in a file or folder.
///
/// Supported are `.xcdatamodeld` with all versions, `.xcdatamodel`, its `contents` file, and
/// compiled `.momd` and `.mom`.
public struct CoreDataModelVersions: Sendable {
    /// The names of the versions, sorted.
    public let names: [String]
    /// The name of the version that the files mark as current.
    public let currentName: String?

    private let models: [String: CoreDataModel]

    /// Creates the versions of a file or folder.
    ///
    /// - Throws: ``CoreDataModelError`` with the file, and the line or part in it.
    public init(contentsOf url: URL) throws(CoreDataModelError) {
        let url = url.resolvingSymlinksInPath()
        var found: [String: CoreDataModel] = [:]
        var current: String?
        switch url.pathExtension {
        case "xcdatamodeld", "momd":
            let suffix = url.pathExtension == "momd" ? "mom" : "xcdatamodel"
            for part in try ModelFile.parts(of: url, suffix: suffix) {
                let name = part.deletingPathExtension().lastPathComponent
                found[name] = try ModelFile.model(part)
            }
            current = try ModelFile.currentName(of: url)
            if found.isEmpty {
                throw CoreDataModelError(
                    .unreadable,
                    url.lastPathComponent,
                    "there is no .\(suffix) in it"
                )
            }
        case "sqlite", "store", "sqlite3", "db":
            throw CoreDataModelError(
                .unsupported,
                url.lastPathComponent,
                "this is a store; read its model with CoreDataModel(cachedInStoreAt:), or --store"
            )
        default:
            let folder = url.deletingPathExtension().lastPathComponent
            let isPart = url.lastPathComponent == "contents"
            found[
                isPart
                    ? url.deletingLastPathComponent().deletingPathExtension().lastPathComponent
                    : folder
            ] = try ModelFile.model(url)
        }
        if let named = current, found[named] == nil {
            throw CoreDataModelError(
                .version,
                url.lastPathComponent,
                "the current version is \(named.debugDescription), which is not among "
                    + found.keys.sorted().joined(separator: ", ")
            )
        }
        models = found
        names = found.keys.sorted()
        currentName = current ?? (found.count == 1 ? found.keys.first : nil)
    }

    /// The current version.
    ///
    /// - Throws: ``CoreDataModelError`` if the files have several versions and mark none as current.
    public var current: CoreDataModel {
        get throws(CoreDataModelError) {
            guard let currentName else {
                throw CoreDataModelError(
                    .version,
                    "no version is the current one; name one of \(names.joined(separator: ", "))"
                )
            }
            return try model(named: currentName)
        }
    }

    /// Returns the version with a name, with or without the suffix of its file.
    ///
    /// - Throws: ``CoreDataModelError`` if there is none with that name.
    public func model(named name: String) throws(CoreDataModelError) -> CoreDataModel {
        var plain = name
        for suffix in [".xcdatamodel", ".mom"] where name.hasSuffix(suffix) {
            plain = String(name.dropLast(suffix.count))
        }
        guard let model = models[plain] else {
            throw CoreDataModelError(
                .version,
                "there is no version \(plain); there are \(names.joined(separator: ", "))"
            )
        }
        return model
    }
}
