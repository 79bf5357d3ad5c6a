public import CloudKit

// MARK: Key paths

/// Holds where the property equals a value.
public func == <Model: CloudKitMappedModel, Value: CloudKitComparableField>(
    property: KeyPath<Model, Value>,
    value: Value.Comparand
) -> CloudKitPredicate<Model> {
    .comparing(CloudKitPredicate.key(property), "%K == %@", with: Value.comparand(value))
}

/// Holds where the property differs from a value.
public func != <Model: CloudKitMappedModel, Value: CloudKitComparableField>(
    property: KeyPath<Model, Value>,
    value: Value.Comparand
) -> CloudKitPredicate<Model> {
    .comparing(CloudKitPredicate.key(property), "%K != %@", with: Value.comparand(value))
}

/// Holds where the property is less than a value.
public func < <Model: CloudKitMappedModel, Value: CloudKitOrderedField>(
    property: KeyPath<Model, Value>,
    value: Value.Comparand
) -> CloudKitPredicate<Model> {
    .comparing(CloudKitPredicate.key(property), "%K < %@", with: Value.comparand(value))
}

/// Holds where the property is at most a value.
public func <= <Model: CloudKitMappedModel, Value: CloudKitOrderedField>(
    property: KeyPath<Model, Value>,
    value: Value.Comparand
) -> CloudKitPredicate<Model> {
    .comparing(CloudKitPredicate.key(property), "%K <= %@", with: Value.comparand(value))
}

/// Holds where the property is greater than a value.
public func > <Model: CloudKitMappedModel, Value: CloudKitOrderedField>(
    property: KeyPath<Model, Value>,
    value: Value.Comparand
) -> CloudKitPredicate<Model> {
    .comparing(CloudKitPredicate.key(property), "%K > %@", with: Value.comparand(value))
}

/// Holds where the property is at least a value.
public func >= <Model: CloudKitMappedModel, Value: CloudKitOrderedField>(
    property: KeyPath<Model, Value>,
    value: Value.Comparand
) -> CloudKitPredicate<Model> {
    .comparing(CloudKitPredicate.key(property), "%K >= %@", with: Value.comparand(value))
}

// MARK: Keys, those of system fields among them

/// Holds where the field equals a value.
public func == <Model: CloudKitMappedModel, Value: CloudKitComparableField>(
    key: CloudKitFieldKey<Model, Value>,
    value: Value.Comparand
) -> CloudKitPredicate<Model> {
    .comparing(.success(key), "%K == %@", with: Value.comparand(value))
}

/// Holds where the field differs from a value.
public func != <Model: CloudKitMappedModel, Value: CloudKitComparableField>(
    key: CloudKitFieldKey<Model, Value>,
    value: Value.Comparand
) -> CloudKitPredicate<Model> {
    .comparing(.success(key), "%K != %@", with: Value.comparand(value))
}

/// Holds where the field is less than a value.
public func < <Model: CloudKitMappedModel, Value: CloudKitOrderedField>(
    key: CloudKitFieldKey<Model, Value>,
    value: Value.Comparand
) -> CloudKitPredicate<Model> {
    .comparing(.success(key), "%K < %@", with: Value.comparand(value))
}

/// Holds where the field is at most a value.
public func <= <Model: CloudKitMappedModel, Value: CloudKitOrderedField>(
    key: CloudKitFieldKey<Model, Value>,
    value: Value.Comparand
) -> CloudKitPredicate<Model> {
    .comparing(.success(key), "%K <= %@", with: Value.comparand(value))
}

/// Holds where the field is greater than a value.
public func > <Model: CloudKitMappedModel, Value: CloudKitOrderedField>(
    key: CloudKitFieldKey<Model, Value>,
    value: Value.Comparand
) -> CloudKitPredicate<Model> {
    .comparing(.success(key), "%K > %@", with: Value.comparand(value))
}

/// Holds where the field is at least a value.
public func >= <Model: CloudKitMappedModel, Value: CloudKitOrderedField>(
    key: CloudKitFieldKey<Model, Value>,
    value: Value.Comparand
) -> CloudKitPredicate<Model> {
    .comparing(.success(key), "%K >= %@", with: Value.comparand(value))
}

// MARK: Raw values

/// Holds where the property equals a value, stored by its raw value.
@_disfavoredOverload
public func == <Model: CloudKitMappedModel, Value: RawRepresentable>(
    property: KeyPath<Model, Value>,
    value: Value
) -> CloudKitPredicate<Model>
where Value.RawValue: CloudKitComparableField, Value.RawValue.Comparand == Value.RawValue {
    .comparing(
        CloudKitPredicate.key(property),
        "%K == %@",
        with: Value.RawValue.comparand(value.rawValue)
    )
}

/// Holds where the property equals a value, stored by its raw value.
@_disfavoredOverload
public func == <Model: CloudKitMappedModel, Value: RawRepresentable>(
    property: KeyPath<Model, Value?>,
    value: Value
) -> CloudKitPredicate<Model>
where Value.RawValue: CloudKitComparableField, Value.RawValue.Comparand == Value.RawValue {
    .comparing(
        CloudKitPredicate.key(property),
        "%K == %@",
        with: Value.RawValue.comparand(value.rawValue)
    )
}

/// Holds where the property differs from a value, stored by its raw value.
@_disfavoredOverload
public func != <Model: CloudKitMappedModel, Value: RawRepresentable>(
    property: KeyPath<Model, Value>,
    value: Value
) -> CloudKitPredicate<Model>
where Value.RawValue: CloudKitComparableField, Value.RawValue.Comparand == Value.RawValue {
    .comparing(
        CloudKitPredicate.key(property),
        "%K != %@",
        with: Value.RawValue.comparand(value.rawValue)
    )
}

/// Holds where the property differs from a value, stored by its raw value.
@_disfavoredOverload
public func != <Model: CloudKitMappedModel, Value: RawRepresentable>(
    property: KeyPath<Model, Value?>,
    value: Value
) -> CloudKitPredicate<Model>
where Value.RawValue: CloudKitComparableField, Value.RawValue.Comparand == Value.RawValue {
    .comparing(
        CloudKitPredicate.key(property),
        "%K != %@",
        with: Value.RawValue.comparand(value.rawValue)
    )
}

// MARK: Models

/// Holds where the property refers to a model with an identity.
public func == <Model: CloudKitMappedModel, Value: CloudKitModel>(
    property: KeyPath<Model, Value>,
    recordID: CKRecord.ID
) -> CloudKitPredicate<Model> {
    .comparing(CloudKitPredicate.key(property), "%K == %@", with: CKRecord.ID.comparand(recordID))
}

/// Holds where the property refers to a model with an identity.
public func == <Model: CloudKitMappedModel, Value: CloudKitModel>(
    property: KeyPath<Model, Value?>,
    recordID: CKRecord.ID
) -> CloudKitPredicate<Model> {
    .comparing(CloudKitPredicate.key(property), "%K == %@", with: CKRecord.ID.comparand(recordID))
}

/// Holds where the property does not refer to a model with an identity.
public func != <Model: CloudKitMappedModel, Value: CloudKitModel>(
    property: KeyPath<Model, Value>,
    recordID: CKRecord.ID
) -> CloudKitPredicate<Model> {
    .comparing(CloudKitPredicate.key(property), "%K != %@", with: CKRecord.ID.comparand(recordID))
}

/// Holds where the property does not refer to a model with an identity.
public func != <Model: CloudKitMappedModel, Value: CloudKitModel>(
    property: KeyPath<Model, Value?>,
    recordID: CKRecord.ID
) -> CloudKitPredicate<Model> {
    .comparing(CloudKitPredicate.key(property), "%K != %@", with: CKRecord.ID.comparand(recordID))
}
