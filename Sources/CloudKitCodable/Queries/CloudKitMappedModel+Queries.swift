public import CloudKit

extension CloudKitMappedModel {
    /// Creates a query for records of this type.
    ///
    /// ```swift
    /// let query = try Note.query(
    ///     where: \.title == "Milk" && \.count > 3,
    ///     sort: [.descending(.modificationDate)]
    /// )
    /// let (matches, cursor) = try await database.records(
    ///     matching: query,
    ///     desiredKeys: Note.desiredKeys(\.title, \.count)
    /// )
    /// ```
    ///
    /// - Parameters:
    ///   - condition: The condition that the results meet; none by default.
    ///   - orders: The order of the results, most significant first.
    /// - Returns: The query.
    /// - Throws: ``CloudKitQueryError`` for a property that CloudKit cannot search or sort by, and
    ///   for a condition that it does not support.
    public static func query(
        where condition: CloudKitPredicate<Self> = .everything,
        sort orders: [CloudKitSort<Self>] = []
    ) throws -> CKQuery {
        let query = CKQuery(recordType: recordType, predicate: try condition.predicate())
        if !orders.isEmpty { query.sortDescriptors = try orders.map { try $0.sortDescriptor() } }
        return query
    }

    /// Returns the field names of some properties, for requests that need no others.
    ///
    /// A property that is stored in two fields yields both names; one that is stored in none yields
    /// none.
    ///
    /// - Throws: ``CloudKitQueryError`` for a key path that leads to no field.
    public static func desiredKeys(
        _ properties: PartialKeyPath<Self>...
    ) throws -> [CKRecord.FieldKey] {
        try properties.flatMap { property in
            guard let key = codingKey(of: property) else {
                throw CloudKitQueryError(
                    recordType,
                    "\(property)",
                    "it is not a stored property with its own field; name one that is"
                )
            }
            return CloudKitFieldKey<Self, Never>(key).stored
        }
    }
}
