#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The encoding of messages as JSON bytes and back, shared by client and server.
public enum WireJSON {
    /// Encodes a message.
    ///
    /// - Throws: `EncodingError` for a number that JSON cannot hold.
    public static func encode(
        _ message: some Encodable,
        numbersAsStrings: Bool = false
    ) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        if numbersAsStrings { encoder.userInfo[.numbersAsStrings] = true }
        return try encoder.encode(message)
    }

    /// Decodes a message.
    ///
    /// - Throws: `DecodingError`, which `place(of:)` describes.
    public static func decode<Message: Decodable>(
        _ type: Message.Type,
        from data: Data
    ) throws -> Message {
        try decode(type, from: data, errors: nil)
    }

    /// Decodes a message, and cleans the errors in it as a client does.
    ///
    /// - Throws: `DecodingError`, which `place(of:)` describes.
    package static func decode<Message: Decodable>(
        _ type: Message.Type,
        from data: Data,
        errors: ErrorText?
    ) throws -> Message {
        // These readers do not handle errors, and leave messages that contain some to Foundation.
        if Message.self == ZoneChangesResponse.self,
            let message = ZoneChangesResponse(common: data) as? Message
        {
            return message
        }
        if Message.self == RecordsResponse.self,
            let message = RecordsResponse(common: data) as? Message
        {
            return message
        }
        if Message.self == [String: WireField].self,
            let message = [String: WireField](common: data) as? Message
        {
            return message
        }
        let decoder = JSONDecoder()
        if let errors { decoder.userInfo[.errorText] = errors }
        return try decoder.decode(type, from: data)
    }

    /// Returns a decoding error's message, with its place in the data:
    /// "operations[3].record.fields.due: Expected …".
    public static func place(of error: DecodingError) -> String {
        let context: DecodingError.Context
        var expected: String?
        switch error {
        case .typeMismatch(let type, let found), .valueNotFound(let type, let found):
            context = found
            expected = kind(of: type)
        case .dataCorrupted(let found):
            context = found
        case .keyNotFound(let key, let found):
            let path = text(found.codingPath + [key])
            return "\(path): The key is missing"
        @unknown default: return String(describing: error)
        }
        let path = text(context.codingPath)
        var message = context.debugDescription
        // Foundation's own words name types of Swift, which clients in other languages do not know.
        if let expected, ["Expected to decode", "Cannot get"].contains(where: message.hasPrefix) {
            message = "Expected \(expected)"
        } else if message.contains("does not fit in") || message.contains("not representable in") {
            message = "Expected a number that fits"
        }
        return path.isEmpty ? message : "\(path): \(message)"
    }

    /// Returns the JSON values that a type of Swift is decoded from, in words; `nil` for other types.
    private static func kind(of type: Any.Type) -> String? {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type: "an integer"
        case is any BinaryFloatingPoint.Type: "a number"
        case is [String: Any].Type: "an object"
        case is [Any].Type: "a list"
        default: nil
        }
    }

    private static func text(_ path: [any CodingKey]) -> String {
        path.reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}
