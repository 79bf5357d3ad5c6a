public import Foundation
import ServerFixtures

/// A part of the server that receives bytes from outside.
public enum FuzzTarget: String, Sendable, CaseIterable {
    /// Bodies of all endpoints.
    case requests
    /// Queries, from their parts to the compiler.
    case queries
    /// Schemas as text.
    case schemas
    /// Web auth tokens, change tokens, markers, asset tokens and links.
    case tokens

    /// Returns the known inputs, smallest first.
    public func corpus() throws -> [Data] {
        let folder = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fuzz/Corpus/\(rawValue)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .map { try Data(contentsOf: folder.appendingPathComponent($0)) }
            .sorted { $0.count < $1.count }
    }
}
