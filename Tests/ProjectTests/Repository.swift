import Foundation

/// The working tree that these tests were compiled from.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every Swift file under a folder of the repository, build folders excluded.
    static func swiftFiles(under folder: String) throws -> [SourceFile] {
        try paths(under: folder)
            .filter { $0.hasSuffix(".swift") }
            .map { path in
                SourceFile(
                    path: path,
                    text: try String(contentsOf: root.appending(path: path), encoding: .utf8)
                )
            }
    }

    /// Paths of the files under a folder, relative to the root, in order.
    static func paths(under folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { !$0.split(separator: "/").contains(".build") }
            .sorted()
            .map { "\(folder)/\($0)" }
    }
}
