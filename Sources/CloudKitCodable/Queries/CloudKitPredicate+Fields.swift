public import CloudKit

#if canImport(Darwin)
// Older SDKs do not declare that locations, which are immutable, are Sendable.
@preconcurrency public import CoreLocation
#endif

// Comparators that Swift has no operator for.
extension CloudKitPredicate {
    /// Holds where the property is one of the values.
    public static func field<Value: CloudKitComparableField>(
        _ property: KeyPath<Model, Value>,
        isIn values: [Value.Comparand]
    ) -> Self {
        comparing(key(property), "%K IN %@", with: list(values.map { Value.comparand($0) }))
    }

    /// Holds where the property is one of the values, stored by their raw values.
    @_disfavoredOverload
    public static func field<Value: RawRepresentable>(
        _ property: KeyPath<Model, Value>,
        isIn values: [Value]
    ) -> Self
    where Value.RawValue: CloudKitComparableField, Value.RawValue.Comparand == Value.RawValue {
        comparing(
            key(property),
            "%K IN %@",
            with: list(values.map { Value.RawValue.comparand($0.rawValue) })
        )
    }

    /// Holds where the property is one of the values, stored by their raw values.
    @_disfavoredOverload
    public static func field<Value: RawRepresentable>(
        _ property: KeyPath<Model, Value?>,
        isIn values: [Value]
    ) -> Self
    where Value.RawValue: CloudKitComparableField, Value.RawValue.Comparand == Value.RawValue {
        comparing(
            key(property),
            "%K IN %@",
            with: list(values.map { Value.RawValue.comparand($0.rawValue) })
        )
    }

    /// Holds where the property refers to a model with one of the identities.
    public static func field<Value: CloudKitModel>(
        _ property: KeyPath<Model, Value>,
        isIn recordIDs: [CKRecord.ID]
    ) -> Self {
        comparing(key(property), "%K IN %@", with: list(recordIDs.map(CKRecord.ID.comparand)))
    }

    /// Holds where the property refers to a model with one of the identities.
    public static func field<Value: CloudKitModel>(
        _ property: KeyPath<Model, Value?>,
        isIn recordIDs: [CKRecord.ID]
    ) -> Self {
        comparing(key(property), "%K IN %@", with: list(recordIDs.map(CKRecord.ID.comparand)))
    }

    /// Holds where the field is one of the values.
    public static func field<Value: CloudKitComparableField>(
        _ key: CloudKitFieldKey<Model, Value>,
        isIn values: [Value.Comparand]
    ) -> Self {
        comparing(.success(key), "%K IN %@", with: list(values.map { Value.comparand($0) }))
    }

    /// Holds where the property is between two values, inclusive.
    public static func field<Value: CloudKitOrderedField>(
        _ property: KeyPath<Model, Value>,
        isIn range: ClosedRange<Value.Comparand>
    ) -> Self {
        comparing(
            key(property),
            "%K BETWEEN %@",
            .impossible("a range; use < and >"),
            with: list([Value.comparand(range.lowerBound), Value.comparand(range.upperBound)])
        )
    }

    /// Holds where the field is between two values, inclusive.
    public static func field<Value: CloudKitOrderedField>(
        _ key: CloudKitFieldKey<Model, Value>,
        isIn range: ClosedRange<Value.Comparand>
    ) -> Self {
        comparing(
            .success(key),
            "%K BETWEEN %@",
            .impossible("a range; use < and >"),
            with: list([Value.comparand(range.lowerBound), Value.comparand(range.upperBound)])
        )
    }

    /// Holds where the text begins with another text.
    public static func field<Value: CloudKitOrderedField>(
        _ property: KeyPath<Model, Value>,
        beginsWith prefix: String
    ) -> Self where Value.Comparand == String {
        comparing(key(property), "%K BEGINSWITH %@", with: prefix)
    }

    // MARK: Lists

    /// Holds where the list contains an element.
    public static func field<List: CloudKitListField>(
        _ property: KeyPath<Model, List>,
        contains element: List.Element.Comparand
    ) -> Self where List.Element: CloudKitComparableField {
        comparing(key(property), "%K CONTAINS %@", with: List.Element.comparand(element))
    }

    /// Holds where the list contains an element, stored by its raw value.
    @_disfavoredOverload
    public static func field<List: CloudKitListField>(
        _ property: KeyPath<Model, List>,
        contains element: List.Element
    ) -> Self
    where
        List.Element: RawRepresentable,
        List.Element.RawValue: CloudKitComparableField,
        List.Element.RawValue.Comparand == List.Element.RawValue
    {
        comparing(
            key(property),
            "%K CONTAINS %@",
            with: List.Element.RawValue.comparand(element.rawValue)
        )
    }

    /// Holds where the list of models refers to a record.
    public static func field<List: CloudKitListField>(
        _ property: KeyPath<Model, List>,
        contains recordID: CKRecord.ID
    ) -> Self where List.Element: CloudKitModel {
        comparing(key(property), "%K CONTAINS %@", with: CKRecord.ID.comparand(recordID))
    }

    /// Holds where the list contains one of the elements.
    public static func field<List: CloudKitListField>(
        _ property: KeyPath<Model, List>,
        containsAnyOf elements: [List.Element.Comparand]
    ) -> Self where List.Element: CloudKitComparableField {
        comparing(
            key(property),
            "ANY %K IN %@",
            with: list(elements.map { List.Element.comparand($0) })
        )
    }

    /// Holds where the list of models refers to one of the records.
    public static func field<List: CloudKitListField>(
        _ property: KeyPath<Model, List>,
        containsAnyOf recordIDs: [CKRecord.ID]
    ) -> Self where List.Element: CloudKitModel {
        comparing(key(property), "ANY %K IN %@", with: list(recordIDs.map(CKRecord.ID.comparand)))
    }

    /// Holds where an element of the list begins with a text.
    public static func field<List: CloudKitListField>(
        _ property: KeyPath<Model, List>,
        anyBeginsWith prefix: String
    ) -> Self where List.Element == String {
        comparing(key(property), "ANY %K BEGINSWITH %@", with: prefix)
    }

    // MARK: Places

    /// Holds where the place is closer to another than a distance.
    ///
    /// - Parameters:
    ///   - property: The place.
    ///   - metres: The distance; the service's index is coarse, some ten kilometres.
    ///   - centre: The other place.
    /// - Returns: The condition.
    public static func field<Place: CloudKitNativeValue>(
        _ property: KeyPath<Model, Place>,
        isWithin metres: Double,
        of centre: CLLocation
    ) -> Self where Place: CloudKitPlace {
        comparing(
            key(property),
            "distanceToLocation:fromLocation:(%K, %@) < %@",
            .impossible("a distance"),
            with: centre,
            metres
        )
    }
}

/// A type of property that is a place.
public protocol CloudKitPlace {}

extension CLLocation: CloudKitPlace {}
extension Optional: CloudKitPlace where Wrapped: CloudKitPlace {}
