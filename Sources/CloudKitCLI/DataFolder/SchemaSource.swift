import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// The source of a schema to compare: a file, or a server's folder with an environment.
///
/// `production.ckdb`, `./cloud` and `./cloud:production` are examples.
struct SchemaSource {
    let name: String
    let text: String

    /// Creates a source by reading and checking a schema.
    ///
    /// - Parameters:
    ///   - source: A file, `-` for standard input, or a folder, followed by `:production` or
    ///     `:development`, which is the default.
    ///   - container: The container in a folder; nil for the only one.
    /// - Throws: `CommandFailure` for a schema that cannot be read.
    init(_ source: String, container: String?) async throws {
        name = source
        var path = source
        var kind = ServiceEnvironment.development
        for known in ServiceEnvironment.allCases where source.hasSuffix(":" + known.rawValue) {
            path = String(source.dropLast(known.rawValue.count + 1))
            kind = known
        }
        try Self.checkEnvironment(source)
        if Self.isFolder(path) {
            let folder = DataFolder(path: path, container: container)
            guard try folder.hasDatabase() else {
                throw CommandFailure(
                    unusable:
                        "\(path) is not a data folder of a server; name one that cloudkit serve "
                        + "made, or a file with a schema"
                )
            }
            let service = try folder.open()
            text = try await service.exportSchema(
                container: try await folder.containerName(service),
                environment: kind
            )
        } else {
            let file = try SchemaFile(path: source)
            try await file.parsed { try CloudService.validateSchema($0) }
            text = file.text
        }
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
