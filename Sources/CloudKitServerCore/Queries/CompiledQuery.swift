import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A query that was checked against the schema.
struct CompiledQuery {
    /// A sort key.
    struct Sort {
        var field: QueryField
        var isDescending: Bool
        /// The location from which distances are measured; nil to sort by the values.
        var centre: WireValue?
    }

    let typeName: String
    let type: RecordTypeSchema
    private(set) var conditions: [QueryCondition]
    let sorts: [Sort]

    /// Checks a query.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` and the reason that Apple's service would have.
    init(
        _ query: WireQuery,
        in schema: Schema,
        _ call: Call
    ) throws(RequestError) {
        let work = call.work
        try work.check(query.filterBy.count, work.budget.filters, "filters")
        try work.check(query.sortBy.count, work.budget.sorts, "sort keys")
        try work.check(name: query.recordType)
        for filter in query.filterBy { try work.check(name: filter.fieldName) }
        for sort in query.sortBy { try work.check(name: sort.fieldName) }
        guard let type = schema.types[query.recordType] else {
            throw RequestError(
                .badRequest,
                reason: "Did not find record type: \(query.recordType)"
            )
        }
        self.type = type
        typeName = query.recordType
        guard type.fields.values.contains(where: { !$0.indexes.isEmpty }) else {
            throw RequestError(
                .badRequest,
                reason: "Type is not marked indexable: \(query.recordType)"
            )
        }
        var conditions: [QueryCondition] = []
        for filter in query.filterBy {
            conditions.append(
                try QueryCondition(filter, in: type, query.recordType, call.untagged)
            )
        }
        var sorts: [Sort] = []
        for sort in query.sortBy { sorts.append(try Self.sort(sort, in: type, query.recordType)) }
        if conditions.isEmpty, sorts.isEmpty { try Self.checkListing(type) }
        self.conditions = conditions
        self.sorts = sorts
    }

    /// Returns the query for the records of one zone.
    func resolved(in home: ReferenceHome) -> Self {
        var resolved = self
        resolved.conditions = conditions.map { $0.resolved(in: home) }
        return resolved
    }

    private static func sort(
        _ sort: WireSort,
        in type: RecordTypeSchema,
        _ typeName: String
    ) throws(RequestError) -> Sort {
        let field = try QueryField(
            sort.fieldName,
            system: sort.systemFieldName,
            in: type,
            typeName,
            for: "sort"
        )
        guard field.schema.indexes.contains(.sortable) || field.schema.isEncrypted else {
            throw field.lacks(.sortable)
        }
        var centre: WireValue?
        if field.schema.type.scalar == .location {
            guard case .location? = sort.relativeLocation?.value else {
                throw RequestError(
                    .badRequest,
                    reason: "The sort by location '\(field.name)' needs a relativeLocation"
                )
            }
            centre = sort.relativeLocation?.value
        }
        return Sort(field: field, isDescending: sort.ascending == false, centre: centre)
    }

    private static func checkListing(_ type: RecordTypeSchema) throws(RequestError) {
        let field = try QueryField(nil, system: "recordName", in: type, "", for: "query")
        guard field.schema.indexes.contains(.queryable) else { throw field.lacks(.queryable) }
    }

    /// The index that yields the first part of the order: that of the first sort, if it is by the
    /// values of an indexed field.
    var orderDriver: QueryDriver? {
        guard let sort = sorts.first, sort.centre == nil, !sort.field.schema.isEncrypted,
            !sort.field.schema.type.isList
        else { return nil }
        return .order(sort.field)
    }
}
