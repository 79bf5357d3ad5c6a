import CloudKitWire
import CoreLocation
import Foundation

/// A predicate as the filters of a request, which must all hold.
///
/// What CloudKit's predicates cannot say is refused here, with the place in the format. Native rules
/// that web services would not enforce (no negated conjunctions, distances or word searches) hold
/// too, so that a query which works here works on Apple platforms.
struct QueryFilters {
    /// The filters.
    private(set) var filters: [WireFilter] = []
    /// Whether the predicate holds for no record, so that there is nothing to ask.
    private(set) var matchesNothing = false

    let owners: OwnerMapping
    /// The zone that is searched, which identities in it need not name; nil for all zones.
    let home: CKRecordZone.ID?

    /// Translates a predicate.
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
                "CloudKit knows no OR; make one query for each side, or use IN",
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
