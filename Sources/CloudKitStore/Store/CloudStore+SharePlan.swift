import GRDB

extension CloudStore {
    /// Returns the rows that sharing a row would include, and those that would stay behind, with
    /// the reasons.
    ///
    /// - Parameters:
    ///   - key: The row's key.
    ///   - table: The table's name.
    /// - Returns: The plan of sharing the row.
    /// - Throws: A ``CloudStoreError`` for a table that is not synced or a row that does not exist;
    ///   an error of the database.
    public func sharePlan(of key: String, in table: String) async throws -> SharePlan {
        let schema = try schema(table)
        let rowKey = RowKey(table: table, text: key)
        let mapping = file.mapping
        return try await file.writer.read { database in
            var planner = SharePlanner(database, mapping)
            return try planner.plan(rowKey, schema)
        }
    }

    /// Throws if the first share of a row would not give participants all rows of its tree.
    func checkComplete(_ key: String, _ table: String) async throws {
        let rowKey = RowKey(table: table, text: key)
        let schema = try schema(table)
        let isNew = try await file.writer.read { [mapping = file.mapping] database in
            let rows = RowStore(database: database, mapping: mapping)
            guard try rows.row(rowKey, schema) != nil else { return false }
            let place = try Place.fetch(database, rowKey)
            let zone = place?.zone ?? .own
            return zone == .own && place?.share == nil
        }
        guard isNew else { return }
        let plan = try await sharePlan(of: key, in: table)
        guard let first = plan.excludedRows.first else { return }
        throw CloudStoreError(
            .incompleteShare,
            "\(plan.excludedRows.count) rows below '\(key)' of the table '\(table)' would stay behind: "
                + "the row '\(first.row.key)' of '\(first.row.table)' needs the row '\(first.target.key)' "
                + "of '\(first.target.table)', which is not shared with it, in its column '"
                + "\(first.columns.joined(separator: ", "))'; share a complete tree, allow NULL in the "
                + "column, or pass ifIncomplete: .shareOthers"
        )
    }

    /// The action of ``share(_:in:ifIncomplete:configure:)`` when rows of the tree would stay behind.
    public enum IncompleteShare: Hashable, Sendable {
        /// Throws an error and shares nothing.
        case refuse
        /// Shares the other rows; those left behind wait on the participants' devices, whose status
        /// names the missing records.
        case shareOthers
    }
}
