package import CloudKitWebClient

/// A sort key in the syntax of the command line: `FIELD` or `FIELD:desc`.
package struct SortExpression: Sendable {
    /// The sort key.
    package let sort: WireSort

    /// Creates a sort key by parsing an expression.
    ///
    /// - Throws: `CommandFailure` for an order that is neither `asc` nor `desc`.
    package init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let order = parts.count > 1 ? parts[1] : "asc"
        guard !parts[0].isEmpty, ["asc", "desc"].contains(order) else {
            throw CommandFailure(unusable: "'\(text)' is not a sort key: FIELD or FIELD:desc")
        }
        let name = String(parts[0])
        let isAscending = order == "asc"
        sort =
            SystemField(name: name).map { WireSort($0, ascending: isAscending) }
            ?? WireSort(name, ascending: isAscending)
    }
}
