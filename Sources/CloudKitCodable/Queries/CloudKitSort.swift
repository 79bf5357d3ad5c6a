public import CloudKit

/// One order of a query's results.
///
/// ```swift
/// try Note.query(sort: [.descending(\.count), .ascending(.creationDate)])
/// ```
public struct CloudKitSort<Model: CloudKitMappedModel>: Sendable {
    private enum Order: Sendable {
        case ascending
        case descending
        case nearest(CLLocation)
    }

    private let name: Result<CKRecord.FieldKey, CloudKitQueryError>
    private let order: Order

    private init<Value>(
        _ key: Result<CloudKitFieldKey<Model, Value>, CloudKitQueryError>,
        _ order: Order
    ) {
        name = Result { () throws(CloudKitQueryError) in
            try key.get().searchable(for: .order)
        }
        self.order = order
    }

    /// The order as CloudKit takes it.
    ///
    /// - Throws: ``CloudKitQueryError`` for a property that CloudKit does not sort by.
    public func sortDescriptor() throws(CloudKitQueryError) -> NSSortDescriptor {
        let name = try name.get()
        return switch order {
        case .ascending: NSSortDescriptor(key: name, ascending: true)
        case .descending: NSSortDescriptor(key: name, ascending: false)
        case .nearest(let centre): CKLocationSortDescriptor(key: name, relativeLocation: centre)
        }
    }

    /// The smallest value first.
    public static func ascending<Value: CloudKitOrderedField>(
        _ property: KeyPath<Model, Value>
    ) -> Self {
        Self(CloudKitPredicate.key(property), .ascending)
    }

    /// The largest value first.
    public static func descending<Value: CloudKitOrderedField>(
        _ property: KeyPath<Model, Value>
    ) -> Self {
        Self(CloudKitPredicate.key(property), .descending)
    }

    /// The smallest value first.
    public static func ascending<Value: CloudKitOrderedField>(
        _ key: CloudKitFieldKey<Model, Value>
    ) -> Self {
        Self(.success(key), .ascending)
    }

    /// The largest value first.
    public static func descending<Value: CloudKitOrderedField>(
        _ key: CloudKitFieldKey<Model, Value>
    ) -> Self {
        Self(.success(key), .descending)
    }

    /// The nearest place first.
    public static func nearest<Place: CloudKitPlace>(
        _ property: KeyPath<Model, Place>,
        to centre: CLLocation
    ) -> Self {
        Self(CloudKitPredicate.key(property), .nearest(centre))
    }
}
