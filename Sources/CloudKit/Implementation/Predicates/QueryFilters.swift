import CloudKitWire
import CoreLocation
import Foundation

/// The filters of a request that express a predicate; all of them must match.
///
/// Predicates that CloudKit does not support are refused here, with the position in the format.
/// Rules of the native API that web services would not enforce (no negated conjunctions, distances
/// or word searches) apply too, because a query that works here should work on Apple platforms.
struct QueryFilters {
    /// The filters.
    private(set) var filters: [WireFilter] = []
    /// `true` when the predicate matches no record, and no request is needed.
    private(set) var matchesNothing = false

    let owners: OwnerMapping
    /// The zone to search, which IDs in it need not name; nil for all zones.
    let home: CKRecordZone.ID?

    /// Creates the filters of a predicate.
    init(
        _ predicate: NSPredicate,
        owners: OwnerMapping,
        home: CKRecordZone.ID?
    ) throws(PredicateError) {
        self.owners = owners
        self.home = home
        do {
            try add(try predicate.tree())
        } catch {
            var error = error
            error.format = error.format ?? predicate.givenFormat
            throw error
        }
    }

    private mutating func add(_ tree: PredicateTree) throws(PredicateError) {
        switch tree {
        case .truth(true): break
        case .truth(false): matchesNothing = true
        case .and(let parts): for part in parts { try add(part) }
        case .or(_, let position):
            throw PredicateError(
                "CloudKit does not support OR; run one query for each side, or use IN",
                at: position
            )
        case .not(let part, let position): try addNegation(part, at: position)
        case .comparison(let comparison): try add(comparison, isNegated: false)
        }
    }

    private mutating func addNegation(
        _ tree: PredicateTree,
        at position: Int
    ) throws(PredicateError) {
        switch tree {
        case .truth(let truth): try add(.truth(!truth))
        case .not(let part, _): try add(part)
        case .comparison(let comparison): try add(comparison, isNegated: true)
        case .and, .or:
            throw PredicateError("CloudKit cannot negate AND and OR", at: position)
        }
    }

    private mutating func add(
        _ comparison: PredicateComparison,
        isNegated: Bool
    ) throws(PredicateError) {
        var translation = ComparisonFilter(comparison, owners: owners, home: home)
        try translation.translate()
        if isNegated { try translation.negate() }
        filters += translation.filters
        if translation.matchesNothing { matchesNothing = true }
    }
}
