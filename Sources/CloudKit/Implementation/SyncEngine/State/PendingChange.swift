/// A change to send: of a record or of a zone.
package protocol PendingChange: Hashable, Sendable {
    associatedtype Subject: Hashable

    /// The record or zone; at most one change of it is pending.
    var subject: Subject { get }

    /// `true` when the subject is to be deleted rather than saved.
    var isDeletion: Bool { get }
}
