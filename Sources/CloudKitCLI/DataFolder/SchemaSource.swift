import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// The source of a schema to compare: a file, or a server's folder or database with an environment.
///
/// `production.ckdb`, `./cloud`, `./cloud:production` and `postgres://host/cloud:production` are examples.
struct SchemaSource {
    let name: String
    let text: String

    /// Creates a source by reading and checking a schema.
    ///
    /// - Parameters:
    ///   - source: A file, `-` for standard input, or a folder or the URL of a database, followed by
    ///     `:production` or `:development`, which is the default; nil for the data of commands that name none.
    ///   - container: The container in the data; nil for the only one.
    /// - Throws: `CommandFailure` for a schema that cannot be read.
    init(_ source: String?, container: String?) async throws {
        var path = source ?? ServerData.usualFolder
        var kind = ServiceEnvironment.development
        for known in ServiceEnvironment.allCases where path.hasSuffix(":" + known.rawValue) {
            path.removeLast(known.rawValue.count + 1)
            kind = known
        }
        let data: ServerData?
        if let source {
            try Self.checkEnvironment(source)
            data = try Self.data(at: path, container)
        } else {
            data = try ServerData(folder: nil, database: nil, container: container)
        }
        guard let data else {
            name = source ?? path
            let file = try SchemaFile(path: name)
            try await file.parsed { try CloudService.validateSchema($0) }
            text = file.text
            return
        }
        name =
            if case .folder = data.place { source ?? path } else {
                "\(data.name) (\(kind.rawValue))"
            }
        let service = try await data.open()
        text = try await service.exportSchema(
            container: try await data.containerName(service),
            environment: kind
        )
    }

    /// Returns the data at a place; nil for a file.
    ///
    /// - Throws: `CommandFailure` for a folder that is no data folder.
    private static func data(at path: String, _ container: String?) throws -> ServerData? {
        let data = try ServerData(at: path, source: "Schema", container: container)
        guard case .folder = data.place else { return data }
        guard isFolder(path) else { return nil }
        guard try DataFolder(path: path).hasDatabase() else {
            throw CommandFailure(
                unusable:
                    "\(path) is not a data folder of a server; name one that cloudkit serve "
                    + "made, or a file with a schema"
            )
        }
        return data
    }

    /// Refuses a folder that is followed by a word other than an environment.
    private static func checkEnvironment(_ source: String) throws {
        let kinds = ServiceEnvironment.allCases.map(\.rawValue)
        guard !isFolder(source), let colon = source.lastIndex(of: ":"),
            isFolder(String(source[..<colon]))
        else { return }
        let word = String(source[source.index(after: colon)...])
        guard !kinds.contains(word) else { return }
        throw CommandFailure(
            unusable: "\(source): '\(word)' is no environment of a folder; one is "
                + kinds.joined(separator: " or ")
        )
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && isFolder.boolValue
    }
}
