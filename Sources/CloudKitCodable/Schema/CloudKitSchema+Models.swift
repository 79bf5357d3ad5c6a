extension CloudKitSchema {
    /// Creates a schema from sample values: their record types, and those of the models in them.
    ///
    /// ```swift
    /// let needed = try CloudKitSchema(describing: [shelf, book])
    /// ```
    ///
    /// The samples are encoded as a save would encode them: a field has the type of the encoded
    /// value. If a sample has nil or an empty list, the type comes from the property or from another
    /// sample. Types with `@CloudKitRecord`, or whose `fields` declare their properties' types, need
    /// no sample.
    ///
    /// A key that no sample writes and no type declares is unknown and not in the schema: for example
    /// one that a hand-written `encode(to:)` leaves out, or clears with `encodeNil(forKey:)`.
    ///
    /// - Throws: ``CloudKitSchemaError`` with all fields and models for which information is missing;
    ///   ``CloudKitGraphError`` for a sample that cannot be encoded.
    public init(describing samples: [any CloudKitModel]) throws {
        var builder = SchemaBuilder()
        for sample in samples { try builder.add(sample: sample) }
        recordTypes = try builder.finish()
    }

    /// Creates a schema from models that declare the types of their properties, and from the models
    /// in them.
    ///
    /// Models with `@CloudKitRecord` declare them, and so do models whose `fields` name the type of
    /// each property:
    ///
    /// ```swift
    /// static var fields: CloudKitFields {
    ///     [
    ///         CodingKeys.id: .recordName.of(String.self),
    ///         CodingKeys.photos: .children(via: "album").of([Photo].self),
    ///     ]
    /// }
    /// ```
    ///
    /// A property that such a table leaves out is not in the schema.
    ///
    /// - Parameters:
    ///   - types: The models.
    ///   - samples: Values of the types that declare nothing or too little.
    /// - Throws: ``CloudKitSchemaError`` with all fields and models for which information is missing.
    public init(
        of types: any CloudKitModel.Type...,
        describing samples: [any CloudKitModel] = []
    ) throws {
        var builder = SchemaBuilder()
        for sample in samples { try builder.add(sample: sample) }
        for type in types { try builder.add(type) }
        recordTypes = try builder.finish()
    }
}
