/// An element of a response array: the requested item, or the error that it failed with.
///
/// On the wire the key `serverErrorCode` distinguishes the two ("Types and Dictionaries" in Apple's
/// reference).
public typealias ItemResult<Success: Codable & Hashable & Sendable> = Result<Success, ItemError>

/// The wire form of an `ItemResult`: the element itself, with no envelope.
struct ItemResultCoder<Success: Codable & Hashable & Sendable>: Codable {
    let result: ItemResult<Success>

    init(_ result: ItemResult<Success>) {
        self.result = result
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: ItemError.CodingKeys.self)
        if container.contains(.serverErrorCode) {
            result = .failure(try ItemError(from: decoder))
        } else {
            result = .success(try Success(from: decoder))
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch result {
        case .success(let value): try value.encode(to: encoder)
        case .failure(let error): try error.encode(to: encoder)
        }
    }
}

extension KeyedDecodingContainer {
    /// Decodes an array whose elements are items or errors.
    func decodeItems<Success: Codable & Hashable & Sendable>(
        _ type: Success.Type,
        forKey key: Key
    ) throws -> [ItemResult<Success>] {
        try decode([ItemResultCoder<Success>].self, forKey: key).map(\.result)
    }
}

extension KeyedEncodingContainer {
    /// Encodes an array whose elements are items or errors.
    mutating func encodeItems<Success: Codable & Hashable & Sendable>(
        _ items: [ItemResult<Success>],
        forKey key: Key
    ) throws {
        try encode(items.map(ItemResultCoder.init), forKey: key)
    }
}
