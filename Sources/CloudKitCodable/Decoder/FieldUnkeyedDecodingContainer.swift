import CloudKit

/// The elements of a field's list.
struct FieldUnkeyedDecodingContainer: UnkeyedDecodingContainer {
    let list: [Any]
    let decoding: FieldDecoding
    private(set) var currentIndex = 0

    init(list: [Any], decoding: FieldDecoding) {
        self.list = list
        self.decoding = decoding
    }

    var codingPath: [any CodingKey] { decoding.codingPath }
    var count: Int? { list.count }
    var isAtEnd: Bool { currentIndex >= list.count }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try element(type).value(type)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next([String: String].self).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next([String].self).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try next(String.self) }

    private mutating func next(_ type: Any.Type) throws -> FieldDecoding {
        let element = try element(type)
        currentIndex += 1
        return element
    }

    private func element(_ type: Any.Type) throws -> FieldDecoding {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type,
                .init(
                    codingPath: codingPath + [PathKey(index: currentIndex)],
                    debugDescription: """
                        \(CodingProblem.place(decoding.record.record)), field \
                        \(decoding.field.name): the list has only \(list.count) elements
                        """
                )
            )
        }
        var element = FieldDecoding(
            object: list[currentIndex],
            field: decoding.field,
            record: decoding.record
        )
        element.index = currentIndex
        return element
    }
}
