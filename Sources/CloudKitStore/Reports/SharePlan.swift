/// A preview of a share: the rows that it would include, and those that it would not.
///
/// ```swift
/// let plan = try await store.sharePlan(of: "p1", in: "playlist")
/// for row in plan.excludedRows { print(row.key, "waits for", row.target) }
/// ```
///
/// Participants only have the rows of the tree. Rows outside the tree that these refer to stay with
/// their owner: if a column may be NULL, participants see NULL; otherwise they cannot have the row
/// at all, and it waits. The store does not copy referenced rows: put a copy below the shared row,
/// or allow NULL in the column.
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
        /// The row in the tree.
        public var row: Row
        /// The referring columns.
        public var columns: [String]
        /// The row that stays with its owner.
        public var target: Row
    }

    /// The rows that participants would have, the shared row first.
    public var shared: [Row] = []
    /// The references of these rows that participants would see as NULL.
    public var hidden: [Reference] = []
    /// The rows of the tree that participants would not have, each with the reference that prevents
    /// it: its columns may not be NULL.
    public var excludedRows: [Reference] = []

    /// A Boolean value that indicates whether participants would have all rows of the tree.
    public var isComplete: Bool { excludedRows.isEmpty }
}
