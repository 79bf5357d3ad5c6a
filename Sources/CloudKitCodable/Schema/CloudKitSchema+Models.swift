extension CloudKitSchema {
    /// The record types of sample values, and those of the models in them.
    ///
    /// ```swift
    /// let needed = try CloudKitSchema(describing: [shelf, book])
    /// ```
    ///
    /// The samples are encoded as a save encodes them: a field has the type of what is written. Where
    /// a sample has nil or an empty list, the type of the property says it, or another sample. Types
    /// with `@CloudKitRecord`, or whose `fields` name their properties' types, need no sample.
    ///
    /// What no sample writes and no type declares cannot be known, and is not in the schema: a key
    /// that a hand-written `encode(to:)` leaves out, or clears with `encodeNil(forKey:)`.
    ///
    /// - Throws: ``CloudKitSchemaError`` with all fields and models of which too little is known;
    ///   ``CloudKitGraphError`` for a sample that cannot be encoded.
    public init(describing samples: [any CloudKitModel]) throws {
        var builder = SchemaBuilder()
        for sample in samples { try builder.add(sample: sample) }
        recordTypes = try builder.finish()
    }

    /// The record types of models that declare the types of their properties, and those of the models
    /// in them.
    ///
    /// Models with `@CloudKitRecord` do, and models whose `fields` name the type of each property:
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
    ///   - samples: Values for what their types do not say, and of types that declare nothing.
    /// - Throws: ``CloudKitSchemaError`` with all fields and models of which too little is known.
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
