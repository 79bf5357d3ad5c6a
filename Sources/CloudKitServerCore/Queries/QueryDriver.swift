import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The index that a query walks, and the relevant parts of it.
struct QueryDriver {
    /// A part of an index, excluding its upper bound.
    struct Range: Hashable {
        var lower: Data
        var upper: Data?

        func contains(_ key: Data) -> Bool {
            !key.lexicographicallyPrecedes(lower)
                && (upper.map { key.lexicographicallyPrecedes($0) } ?? true)
        }
    }

    /// The number of the index.
    var index: Int64
    /// The parts, in the order of their keys, without overlaps.
    var ranges: [Range]
    /// The field; nil for the index of all records.
    var field: QueryField?
    /// `true` when the index contains the field's words.
    var isOnWords = false
    /// `true` when a record can occur in the parts more than once.
    var repeats = false
    /// `true` when every record in the parts satisfies the condition from which they were created.
    var isExact = false

    /// Returns the index of all records of a type.
    static func all(_ type: RecordTypeSchema) -> Self {
        Self(index: type.nameIndex, ranges: [Range(lower: Data(), upper: nil)], field: nil)
    }

    /// Returns the index of all records in the order of a field.
    static func order(_ field: QueryField) -> Self {
        Self(
            index: field.valueIndex,
            ranges: [Range(lower: Data(), upper: nil)],
            field: field
        )
    }

    /// Creates a walk over the records that can satisfy a condition; nil if no index narrows them down.
    init?(_ condition: QueryCondition) {
        let field = condition.field
        // The words of several fields are in several indexes.
        guard field.searched.isEmpty else { return nil }
        guard let ranges = Self.ranges(of: condition), !ranges.isEmpty else { return nil }
        self.field = field
        self.ranges = Self.disjoint(ranges)
        isOnWords = condition.comparator.isOnWords
        index = isOnWords ? field.schema.wordIndex : field.valueIndex
        repeats = isOnWords || field.schema.type.isList
        // Long keys are shortened, and the key of a location is its latitude alone.
        isExact =
            (condition.comparator == .equals || condition.comparator == .in)
            && field.schema.type.scalar != .location
            && ranges.allSatisfy { $0.lower.count < IndexKey.byteLimit }
    }

    private init(index: Int64, ranges: [Range], field: QueryField?) {
        self.index = index
        self.ranges = ranges
        self.field = field
    }

    private static func ranges(of condition: QueryCondition) -> [Range]? {
        let keys = condition.operands.compactMap(IndexKey.of)
        guard let key = keys.first else { return nil }
        switch condition.comparator {
        case .equals, .listContains, .in, .listContainsAny: return keys.map(only)
        // The other elements are checked on the way.
        case .listContainsAll: return [only(key)]
        case .lessThan, .lessThanOrEquals:
            // A record without a value has a key before the first one, and satisfies no order.
            return [Range(lower: IndexKey.first, upper: IndexKey.successor(of: key))]
        case .greaterThan, .greaterThanOrEquals: return [Range(lower: key, upper: nil)]
        case .beginsWith, .listMemberBeginsWith:
            return [Range(lower: key, upper: IndexKey.successor(ofPrefix: key))]
        case .containsAnyTokens: return condition.words.map { only(IndexKey.text($0)) }
        case .containsAllTokens:
            // The longest word is likely the rarest.
            let rarest = condition.words.max { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
            return rarest.map { [only(IndexKey.text($0))] }
        case .near: return [band(condition)]
        // Opposites are satisfied by most records, also by those without a value.
        default: return nil
        }
    }

    /// `true` when all entries of the walk have one key, so that a record keeps its position in it.
    var hasOneKey: Bool {
        ranges.count == 1 && ranges[0].upper == IndexKey.successor(of: ranges[0].lower)
    }

    private static func only(_ key: Data) -> Range {
        Range(lower: key, upper: IndexKey.successor(of: key))
    }

    /// Returns the range of latitudes, in degrees, within a distance.
    private static func band(_ condition: QueryCondition) -> Range {
        guard case .location(let centre)? = condition.operands.first else {
            return Range(lower: Data(), upper: nil)
        }
        // Half a per cent more than the sphere requires, to allow for rounding.
        let reach = condition.distance / WireLocation.earthRadius * 180 / .pi * 1.005
        let lower = IndexKey.of(.double(centre.latitude - reach)) ?? IndexKey.first
        let upper = IndexKey.of(.double(centre.latitude + reach)).map(IndexKey.successor(of:))
        return Range(lower: lower, upper: upper)
    }

    private static func disjoint(_ ranges: [Range]) -> [Range] {
        Set(ranges).sorted { $0.lower.lexicographicallyPrecedes($1.lower) }
    }

    /// Returns whether an entry is the first of its record in the parts, in the order of a walk.
    func isFirst(_ key: Data, _ keys: [Data], isDescending: Bool) -> Bool {
        let inside = keys.filter { key in ranges.contains { $0.contains(key) } }
        let first =
            isDescending
            ? inside.max { $0.lexicographicallyPrecedes($1) }
            : inside.min { $0.lexicographicallyPrecedes($1) }
        return first == key
    }

    /// Returns the keys of a record in the index.
    func keys(
        of record: StoredRecord,
        _ fields: RecordFields,
        _ home: ReferenceHome
    ) -> [Data] {
        guard let field else { return [IndexKey.text(record.name)] }
        let value = field.value(in: record, fields, home)
        if isOnWords { return value.map { Words.of($0).map(IndexKey.text) } ?? [] }
        return IndexKeys.keys(of: value, field.schema.type)
    }
}
