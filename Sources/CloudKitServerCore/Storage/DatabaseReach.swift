/// A change of whether the database of a storage can be reached.
package enum DatabaseReach: Hashable, Sendable {
    /// There is no connection any more, for a reason in words for an operator.
    case lost(reason: String)
    /// There is one again, after some time.
    case regained(seconds: Int64)
}
