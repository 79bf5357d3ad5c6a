import Foundation
import GRDB

/// A note, as stored in the table.
package struct Note: Codable, Identifiable, Equatable, Sendable {
    package var id = UUID().uuidString
    package var title: String
    package var body = ""
    /// Tags that two devices add are both kept.
    package var tags: [String] = []

    package init(title: String) {
        self.title = title
    }
}

extension Note: FetchableRecord, PersistableRecord {}

/// A file of a note.
package struct Attachment: Codable, Identifiable, Equatable, Sendable {
    package var id = UUID().uuidString
    package var note: Note.ID
    package var name: String
    package var data: Data
}

extension Attachment: FetchableRecord, PersistableRecord {}
