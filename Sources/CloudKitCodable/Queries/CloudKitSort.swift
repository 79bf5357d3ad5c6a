public import CloudKit

/// A sort order for a query's results.
///
/// ```swift
/// try Note.query(sort: [.descending(\.count), .ascending(.creationDate)])
/// ```
public struct CloudKitSort<Model: CloudKitMappedModel>: Sendable {
    private let name: Result<CKRecord.FieldKey, CloudKitQueryError>
    private let isAscending: Bool

    private init<Value>(
        _ key: Result<CloudKitFieldKey<Model, Value>, CloudKitQueryError>,
        isAscending: Bool
    ) {
        name = Result { () throws(CloudKitQueryError) in
            try key.get().searchable(for: .order)
        }
        self.isAscending = isAscending
    }

    /// Returns the order as a sort descriptor.
    ///
    /// - Throws: ``CloudKitQueryError`` for a property that CloudKit cannot sort by.
    public func sortDescriptor() throws(CloudKitQueryError) -> NSSortDescriptor {
        NSSortDescriptor(key: try name.get(), ascending: isAscending)
    }

    /// Sorts the smallest value first.
    public static func ascending<Value: CloudKitOrderedField>(
        _ property: KeyPath<Model, Value>
    ) -> Self {
        Self(CloudKitPredicate.key(property), isAscending: true)
    }

    /// Sorts the largest value first.
    public static func descending<Value: CloudKitOrderedField>(
        _ property: KeyPath<Model, Value>
    ) -> Self {
        Self(CloudKitPredicate.key(property), isAscending: false)
    }

    /// Sorts the smallest value first.
    public static func ascending<Value: CloudKitOrderedField>(
        _ key: CloudKitFieldKey<Model, Value>
    ) -> Self {
        Self(.success(key), isAscending: true)
    }

    /// Sorts the largest value first.
    public static func descending<Value: CloudKitOrderedField>(
        _ key: CloudKitFieldKey<Model, Value>
    ) -> Self {
        Self(.success(key), isAscending: false)
    }
}
