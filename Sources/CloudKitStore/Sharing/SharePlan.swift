/// What sharing a row would share, and what not.
///
/// ```swift
/// let plan = try await store.sharePlan(of: "p1", in: "playlist")
/// for row in plan.stayingBehind { print(row.key, "waits for", row.target) }
/// ```
///
/// Participants have the rows of the tree alone. What these refer to outside of it stays with its owner:
/// where a column may be NULL, participants see NULL there; where it may not, they cannot have the row at
/// all, and it waits. The store makes no copies of what rows refer to: put a copy below the shared row, or
/// let the column be NULL.
public struct SharePlan: Hashable, Sendable {
    /// A row.
    public struct Row: Hashable, Sendable {
        /// The table's name.
        public var table: String
        /// The row's key: the value as text, bytes in hexadecimal, several columns as a JSON array.
        public var key: String
    }

    /// A reference that leads out of the tree.
    public struct Reference: Hashable, Sendable {
        /// The row of the tree.
        public var row: Row
        /// The columns that refer.
        public var columns: [String]
        /// The row that stays with its owner.
        public var target: Row
    }

    /// The rows that participants would have, the one that is shared first.
    public var shared: [Row] = []
    /// The references of these rows that participants would see as NULL.
    public var hidden: [Reference] = []
    /// The rows of the tree that participants would not have, each with the reference that keeps it:
    /// its columns may not be NULL.
    public var stayingBehind: [Reference] = []

    /// Whether participants would have all rows of the tree.
    public var isComplete: Bool { stayingBehind.isEmpty }
}
