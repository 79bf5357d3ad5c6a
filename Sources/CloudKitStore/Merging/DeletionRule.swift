/// The treatment of a row that one device deleted while another edited it.
public enum DeletionRule: String, Hashable, Sendable {
    /// The row stays, with the edit.
    case editWins
    /// The row is deleted; the edit is kept in the journal.
    case deletionWins
}
