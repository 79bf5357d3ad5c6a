#if PostgreSQL
import CloudKitServerCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A node's notice of a transaction to all others, as the text of a notification: the node's name and
/// one word for each change.
///
/// PostgreSQL delivers notifications with the commit, to those who listen at that time, and lets only one
/// transaction that notifies commit at a time in all databases of the server. So a transaction sends one at
/// most, and only if it has changed what others wait for or keep in memory.
struct Notice: Hashable {
    /// The channel on which nodes notify and listen.
    static let channel = "cloudkit"
    /// The number of bytes of a text; PostgreSQL takes fewer than 8000.
    private static let limit = 7900
    private static let callersWord = "callers"
    private static let anyQueueWord = "queues"

    /// The name of the node.
    var node: String
    var changes: ForeignChanges

    init(from node: String, _ changes: ForeignChanges) {
        self.node = node
        self.changes = changes
    }

    /// Reads a text; what a newer version may have written stands for any change.
    init(_ text: String) {
        var words = text.split(separator: " ")
        node = words.isEmpty ? "" : String(words.removeFirst())
        changes = ForeignChanges()
        for word in words {
            if word == Self.callersWord {
                changes.concernsCallers = true
            } else if word == Self.anyQueueWord {
                changes.queues = nil
            } else if let queue = Data(base64Encoded: String(word)) {
                changes.queues?.insert(queue)
            } else {
                changes = .unknown
            }
        }
    }

    /// The text, in which queues that are too many are not named.
    var text: String {
        let start = changes.concernsCallers ? [node, Self.callersWord] : [node]
        if let queues = changes.queues {
            let text = (start + queues.map { $0.base64EncodedString() }).joined(separator: " ")
            if text.utf8.count <= Self.limit { return text }
        }
        return (start + [Self.anyQueueWord]).joined(separator: " ")
    }
}
#endif
