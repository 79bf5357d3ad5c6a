import CloudKitCoreData
import Foundation
import Testing

/// The fixture files beside the tests, and models of a few lines.
enum Fixture {
    static func url(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures").appendingPathComponent(name)
    }

    /// Returns the text of a model's file with some content.
    static func xml(_ content: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(content)</model>
        """
    }

    /// Runs a test with a temporary folder.
    static func inFolder<Value>(_ body: (URL) throws -> Value) throws -> Value {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("CoreDataTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    /// Reads the bytes of a file `contents`.
    static func read(_ data: Data) throws -> CoreDataModel {
        try inFolder { folder in
            let file = folder.appendingPathComponent("contents")
            try data.write(to: file)
            return try CoreDataModelVersions(contentsOf: file).current
        }
    }

    /// Returns a model with some content.
    static func model(_ content: String) throws -> CoreDataModel {
        try read(Data(xml(content).utf8))
    }

    /// Returns the error of an operation that must fail.
    static func failure(
        _ body: () throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CoreDataModelError {
        let error = #expect(
            throws: CoreDataModelError.self,
            sourceLocation: sourceLocation,
            performing: body
        )
        return try #require(error, sourceLocation: sourceLocation)
    }
}
