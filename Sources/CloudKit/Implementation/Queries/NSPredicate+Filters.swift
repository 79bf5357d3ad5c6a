import CloudKitWire
import Foundation

extension NSPredicate {
    /// Creates the predicate that a request's filters come from, or an equivalent one.
    ///
    /// References without a zone are in `home`; if that is nil, they stand for their names.
    convenience init(_ filters: [WireFilter], owners: OwnerMapping, home: CKRecordZone.ID?) {
        guard !filters.contains(.nothing) else {
            self.init(value: false)
            return
        }
        let parts = filters.compactMap { PredicateTree($0, owners: owners, home: home) }
        self.init(tree: parts.isEmpty ? .truth(true) : parts.count == 1 ? parts[0] : .and(parts))
    }
}

extension WireFilter {
    /// A filter that no record matches: its ID is in an empty list.
    static let nothing = WireFilter(.recordName, .in, .list([], of: .reference))
}

extension WireValue {
    /// Returns the value with references that name no zone replaced by their names, if no zone is
    /// meant.
    fileprivate func named(unless home: CKRecordZone.ID?) -> WireValue {
        guard home == nil else { return self }
        switch self {
        case .reference(let reference) where reference.zoneID == nil:
            return .string(reference.recordName)
        case .list(let values, of: .reference):
            let named = values.map { $0.named(unless: home) }
            let names = named.filter { $0.type == FieldType(.string) }
            return .list(named, of: names.count == named.count ? .string : .reference)
        default: return self
        }
    }
}

extension PredicateTree {
    /// Creates the tree of a filter; nil for one without a value.
    fileprivate init?(_ filter: WireFilter, owners: OwnerMapping, home: CKRecordZone.ID?) {
        let system = filter.systemFieldName.flatMap(SystemField.init(name:))?.schemaName
        guard
            let value = filter.fieldValue?.value?.named(unless: home).native(
                owners: owners,
                home: home ?? .default,
                asset: { CKAsset(fileURL: nil, remote: RemoteAsset(wire: $0, file: nil)) }
            )
        else { return nil }
        let right = PredicateExpression.value(.field(value), position: 1)
        guard let key = filter.fieldName ?? system else {
            self = Self.words(filter.comparator, right)
            return
        }
        let left = PredicateExpression.key(key, position: 1)
        if filter.comparator == .near {
            self = .compare(
                .function("distanceToLocation:fromLocation:", [left, right], position: 1),
                .lessThanOrEquals,
                .value(.field(.double(filter.distance ?? 0)), position: 1)
            )
            return
        }
        guard let (comparison, modifier, isNegated) = Self.meaning(of: filter.comparator) else {
            return nil
        }
        let tree = PredicateTree.compare(left, comparison, right, modifier)
        self = isNegated ? .not(tree, position: 1) : tree
    }

    private static func compare(
        _ left: PredicateExpression,
        _ comparison: PredicateComparison.Operator,
        _ right: PredicateExpression,
        _ modifier: PredicateComparison.Modifier = .direct
    ) -> PredicateTree {
        .comparison(
            PredicateComparison(
                modifier: modifier,
                left: left,
                operator: comparison,
                options: [],
                right: right,
                position: 1
            )
        )
    }

    private static func words(
        _ comparator: WireComparator,
        _ words: PredicateExpression
    ) -> PredicateTree {
        let comparison: PredicateComparison.Operator =
            comparator == .containsAllTokens ? .tokenMatches : .contains
        return .compare(.object(position: 1), comparison, words)
    }

    private typealias Meaning = (
        PredicateComparison.Operator, PredicateComparison.Modifier, isNegated: Bool
    )

    private static func meaning(of comparator: WireComparator) -> Meaning? {
        switch comparator {
        case .equals: (.equals, .direct, false)
        case .notEquals: (.notEquals, .direct, false)
        case .lessThan: (.lessThan, .direct, false)
        case .lessThanOrEquals: (.lessThanOrEquals, .direct, false)
        case .greaterThan: (.greaterThan, .direct, false)
        case .greaterThanOrEquals: (.greaterThanOrEquals, .direct, false)
        case .in: (.in, .direct, false)
        case .notIn: (.in, .direct, true)
        case .beginsWith: (.beginsWith, .direct, false)
        case .notBeginsWith: (.beginsWith, .direct, true)
        case .listContains: (.contains, .direct, false)
        case .notListContains: (.contains, .direct, true)
        case .listContainsAny: (.in, .any, false)
        case .notListContainsAny: (.in, .any, true)
        case .listMemberBeginsWith: (.beginsWith, .any, false)
        case .notListMemberBeginsWith: (.beginsWith, .any, true)
        case .near, .containsAllTokens, .containsAnyTokens, .listContainsAll, .notListContainsAll:
            nil
        }
    }
}
