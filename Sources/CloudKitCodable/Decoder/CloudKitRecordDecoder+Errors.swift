public import CloudKit

extension CloudKitRecordDecoder {
    /// Returns all errors that occur when a value is decoded from a record, in the order of the
    /// properties.
    ///
    /// Decoding ends at the first error. This method also decodes each property separately, from the
    /// record's fields, and finds all errors of a record. The properties are those that the type
    /// declares or has requested before.
    ///
    /// ```swift
    /// for error in CloudKitRecordDecoder().errors(decoding: Person.self, from: record) {
    ///     print(error)
    /// }
    /// ```
    public func errors<T: Decodable>(
        decoding type: T.Type,
        from record: CKRecord
    ) -> [DecodingError] {
        let model = TypeTraits.of(type).model
        let decoding = RecordDecoding(
            record: record,
            forms: model == nil ? .original : .native,
            userInfo: userInfo,
            options: model?.fields.byKey ?? [:]
        )
        decoding.noteKeySpaces()
        do {
            switch FieldKind.of(type) {
            case .model, .other: _ = try decoding.decode(type)
            default: _ = try decoding.value(type, decoding.field(RecordField.valueKey))
            }
            return []
        } catch {
            let errors = properties(of: type, decoding).compactMap { property in
                Self.error(reading: property, decoding)
            }
            return errors.isEmpty ? [Self.decodingError(error, record)] : errors
        }
    }

    /// Returns the known properties of a type.
    private func properties(of type: Any.Type, _ decoding: RecordDecoding) -> [KnownProperty] {
        let traits = TypeTraits.of(type)
        var properties = traits.model.flatMap { DeclaredProperties.of($0) } ?? []
        let keys = decoding.keySpaces ?? []
        // A stored property is decoded under its name only if the name is one of the type's keys.
        let stored = StoredProperties.of(type).filter { property in
            keys.contains { $0.owns(property.key) }
        }
        let asked = traits.memory.asked
        // If all stored properties are known, their order is the type's.
        for property in stored + asked {
            let asked = asked.first { $0.key == property.key } ?? property
            if !properties.contains(where: { $0.key == asked.key }) { properties.append(asked) }
        }
        return properties
    }

    private static func error(
        reading property: KnownProperty,
        _ decoding: RecordDecoding
    ) -> DecodingError? {
        var type = property.type
        var isOptional = property.isOptional
        if let optional = type as? any OptionalValue.Type {
            type = optional.wrappedType
            isOptional = true
        }
        guard let type = type as? any Decodable.Type else { return nil }
        let field = decoding.field(PathKey(property.key))
        if field.options?.storage == .ignored || isOptional && decoding.isNil(field) { return nil }
        do {
            _ = try decoding.value(type, field)
            return nil
        } catch {
            return decodingError(error, decoding.record)
        }
    }

    private static func decodingError(_ error: any Error, _ record: CKRecord) -> DecodingError {
        if let error = error as? DecodingError { return error }
        return .dataCorrupted(
            .init(
                codingPath: [],
                debugDescription:
                    "\(CodingProblem.place(record)): \(CodingProblem.text(of: error))",
                underlyingError: error
            )
        )
    }
}
