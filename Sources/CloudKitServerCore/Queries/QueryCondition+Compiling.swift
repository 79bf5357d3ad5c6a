import CloudKitWire

extension QueryCondition {
    /// Checks a filter against the schema.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` and the reason that Apple's service would have.
    init(
        _ filter: WireFilter,
        in type: RecordTypeSchema,
        _ typeName: String,
        _ untagged: UntaggedValues
    ) throws(RequestError) {
        let namesNoField = filter.fieldName == nil && filter.systemFieldName == nil
        field =
            namesNoField && filter.comparator.isOnWords
            ? try QueryField(wordsOf: type, typeName)
            : try QueryField(
                filter.fieldName,
                system: filter.systemFieldName,
                in: type,
                typeName,
                for: "filter"
            )
        comparator = filter.comparator
        if !filter.asksForNothing { try Self.checkIndex(field, comparator) }
        try Self.checkField(field, comparator)
        operands = try Self.operands(of: filter, field, untagged)
        if comparator.isOnWords {
            let found = Words.found(in: .list(operands, of: .string))
            guard !found.isEmpty else {
                throw RequestError(
                    .badRequest,
                    reason: "The filter on '\(field.name)' has no word in its value"
                )
            }
            words = found.counting
        } else {
            words = []
        }
        if comparator == .near {
            guard let metres = filter.distance, metres >= 0, metres.isFinite else {
                throw RequestError(
                    .badRequest,
                    reason: "The filter on '\(field.name)' is NEAR and needs a distance in metres"
                )
            }
            distance = metres
        } else {
            distance = 0
        }
    }

    private static func checkIndex(
        _ field: QueryField,
        _ comparator: WireComparator
    ) throws(RequestError) {
        if field.schema.isEncrypted {
            throw RequestError(
                .badRequest,
                reason: "Field '\(field.name)' has a value type of "
                    + "ENCRYPTED_\(field.schema.type.tag) and cannot be queried using filter type "
                    + comparator.rawValue
            )
        }
        let indexes = field.schema.indexes
        if comparator.isOnWords {
            guard indexes.contains(.searchable) else { throw field.lacks(.searchable) }
        } else if comparator.isOnOrder {
            guard !indexes.isDisjoint(with: .values) else { throw field.lacks(.queryable) }
        } else {
            guard indexes.contains(.queryable) else { throw field.lacks(.queryable) }
        }
    }

    /// Refuses comparators that do not apply to the field's type.
    private static func checkField(
        _ field: QueryField,
        _ comparator: WireComparator
    ) throws(RequestError) {
        let type = field.schema.type
        let fits: Bool
        if comparator.isOnLists {
            fits = type.isList && (!comparator.isOnPrefixes || type.scalar == .string)
        } else if comparator.isOnWords {
            fits = type.scalar == .string
        } else if type.isList {
            fits = false
        } else if comparator.isOnPrefixes {
            fits = type.scalar == .string
        } else if comparator == .near {
            fits = type.scalar == .location
        } else if comparator.isOnOrder {
            fits = [.string, .int64, .double, .timestamp, .bytes].contains(type.scalar)
        } else {
            fits = true
        }
        guard fits else {
            throw RequestError(
                .badRequest,
                reason: "Field '\(field.name)' has a value type of \(type.tag) and cannot be "
                    + "queried using filter type \(comparator.rawValue)"
            )
        }
    }

    private static func operands(
        of filter: WireFilter,
        _ field: QueryField,
        _ untagged: UntaggedValues
    ) throws(RequestError) -> [WireValue] {
        guard let value = filter.fieldValue?.value else {
            throw RequestError(
                .badRequest,
                reason: "The filter on '\(field.name)' has no value to compare with"
            )
        }
        var values = [value]
        if filter.comparator.takesList {
            guard case .list(let elements, _) = value,
                filter.fieldValue?.statedType?.isList
                    ?? filter.comparator.takesUntaggedList(untagged)
            else { throw needsList(filter, field) }
            guard elements.count <= Limits.operationsPerRequest else {
                throw RequestError(
                    .badRequest,
                    reason: "The filter on '\(field.name)' has \(elements.count) values; at most "
                        + "\(Limits.operationsPerRequest) are allowed",
                    nativeErrorCode: .limitExceeded
                )
            }
            values = elements
        }
        return try values.map { value throws(RequestError) in
            try operand(value, filter.fieldValue, field, untagged)
        }
    }

    private static func needsList(_ filter: WireFilter, _ field: QueryField) -> RequestError {
        let isList = filter.fieldValue?.value?.type.isList == true
        return RequestError(
            .badRequest,
            reason: "BadRequestException: Unexpected input: the filter on '\(field.name)' is "
                + "\(filter.comparator.rawValue) and needs a value tagged as a list"
                + (isList ? UntaggedValues.remedy : "")
        )
    }

    /// Returns a value converted to the field's own type.
    private static func operand(
        _ value: WireValue,
        _ wire: WireField?,
        _ field: QueryField,
        _ untagged: UntaggedValues
    ) throws(RequestError) -> WireValue {
        let expected = field.schema.type.scalar
        let isUntagged = wire?.statedType == nil
        if isUntagged, let expected {
            let read = untagged.read(value, as: FieldType(expected))
            if read.type == FieldType(expected) { return read }
        }
        switch (value, expected) {
        case (.int64(let integer), .double): return .double(Double(integer))
        case (.double(let double), .int64):
            if let integer = Int64(exactly: double) { return .int64(integer) }
        case (.string(let name), .reference): return .reference(WireReference(recordName: name))
        case (.int64(let integer), .timestamp) where field.system != nil:
            return .timestamp(integer)
        default: break
        }
        guard value.type == expected.map({ FieldType($0) }) else {
            throw RequestError(
                .badRequest,
                reason: "Invalid value, expected type \(expected?.rawValue ?? "STRING"): the "
                    + "filter on '\(field.name)' has a value of type \(value.type.tag)"
                    + (isUntagged
                        && UntaggedValues.wouldRead(value, as: FieldType(expected ?? .string))
                        ? UntaggedValues.remedy : "")
            )
        }
        return value
    }
}

extension Array {
    /// Maps the elements as the standard library does, for closures that throw one type of error.
    fileprivate func map<Value, Failure: Error>(
        _ transform: (Element) throws(Failure) -> Value
    ) throws(Failure) -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try transform(element)) }
        return values
    }
}

extension WireFilter {
    /// `true` when the filter requires a record name from an empty list, with which clients match
    /// nothing; it needs no index.
    fileprivate var asksForNothing: Bool {
        guard comparator == .in, let name = systemFieldName ?? fieldName,
            SystemField(name: name) == .recordName,
            case .list([], _)? = fieldValue?.value
        else { return false }
        return true
    }
}

extension WireComparator {
    /// `true` when the comparator applies to the words of text.
    var isOnWords: Bool { self == .containsAllTokens || self == .containsAnyTokens }

    /// `true` when the comparator applies to the order of values.
    var isOnOrder: Bool {
        switch self {
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .beginsWith,
            .notBeginsWith:
            true
        default: false
        }
    }

    /// `true` when the comparator applies to prefixes of text.
    var isOnPrefixes: Bool {
        switch self {
        case .beginsWith, .notBeginsWith, .listMemberBeginsWith, .notListMemberBeginsWith: true
        default: false
        }
    }

    /// `true` when the field must be a list.
    var isOnLists: Bool {
        switch self {
        case .listContains, .notListContains, .listContainsAny, .notListContainsAny,
            .listContainsAll, .notListContainsAll, .listMemberBeginsWith,
            .notListMemberBeginsWith:
            true
        default: false
        }
    }

    /// Returns whether a list may lack its type: `IN` and `NOT_IN` were observed to need it.
    fileprivate func takesUntaggedList(_ untagged: UntaggedValues) -> Bool {
        untagged == .bySchema || (self != .in && self != .notIn)
    }

    /// `true` when the value must be a list.
    var takesList: Bool {
        switch self {
        case .in, .notIn, .listContainsAny, .notListContainsAny, .listContainsAll,
            .notListContainsAll:
            true
        default: false
        }
    }
}
