import CloudKit
import Foundation

/// The app's data on disk: the contacts, the unsent changes, and the engine's state.
struct ContactsFile: Codable {
    var contacts: [String: Contact] = [:]
    /// The contacts whose last change has not reached the server.
    var unsent: Set<String> = []
    var syncState: CKSyncEngine.State.Serialization?

    /// Reads a file; a missing one is empty.
    init(at url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: url))
    }

    /// Writes the whole file, so that a crash leaves either the old file or the new one.
    func write(to url: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: url, options: .atomic)
    }
}
