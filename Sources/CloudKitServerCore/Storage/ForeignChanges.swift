#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Changes that were made through another storage on the same data, as far as services have to know of
/// them at once.
public struct ForeignChanges: Hashable, Sendable {
    /// The queues that have received items; `nil` if it is not known which.
    public var queues: Set<Data>?
    /// `true` when what services remember of callers may be wrong.
    public var concernsCallers: Bool

    /// Creates changes; those of nothing by default.
    public init(queues: Set<Data>? = [], concernsCallers: Bool = false) {
        self.queues = queues
        self.concernsCallers = concernsCallers
    }

    /// Any changes, because an engine cannot tell which there were.
    public static let unknown = Self(queues: nil, concernsCallers: true)
}
