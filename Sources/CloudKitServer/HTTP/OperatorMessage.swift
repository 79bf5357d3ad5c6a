import CloudKitServerCore
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The body of a request to a route for operators.
///
/// Its coding keys are all that the route reads. Another key is refused, because a misspelled one
/// that limits a request would otherwise make the request do more than its sender meant.
protocol OperatorMessage: Decodable, Sendable {
    associatedtype CodingKeys: CodingKey, CaseIterable

    /// Reads a body that has no keys but these, and no null.
    init(body: Data) throws
}

extension OperatorMessage {
    init(body: Data) throws {
        self = try WireJSON.decode(Self.self, from: body)
    }

    /// The keys, in the order in which they are declared.
    static var keys: [String] { CodingKeys.allCases.map(\.stringValue) }
}

/// The message of a route that reads none.
struct NoMessage: OperatorMessage {
    enum CodingKeys: CodingKey, CaseIterable {}

    init() {}

    init(from decoder: any Decoder) throws {}
}

/// The one reading of the bodies of the routes for operators.
struct OperatorBody<Message: OperatorMessage> {
    let route: OperatorRoute
    let body: Data

    /// Returns the message.
    ///
    /// - Throws: `RequestError` that names the key, and the keys that the route reads.
    func message() throws -> Message {
        if let mistake = JSONBounds.mistake(in: body) { throw self.mistake("The body \(mistake)") }
        do {
            let keys = try WireJSON.decode(ObjectKeys.self, from: body)
            if let key = keys.all.first(where: { !Message.keys.contains($0) }) {
                throw mistake(
                    "'\(key)' means nothing to it" + NearestName.advice(for: key, in: Message.keys)
                )
            }
            if let key = keys.withoutValue.first {
                throw mistake("\(key) is null; give a value, or leave the key out")
            }
            return try Message(body: body)
        } catch let error as DecodingError {
            throw mistake(Self.words(for: error))
        } catch let error as FaultPlanError {
            throw mistake(error.description)
        }
    }

    private func mistake(_ words: String) -> RequestError { route.mistake(words) }

    private static func words(for error: DecodingError) -> String {
        let path: [any CodingKey]
        switch error {
        case .keyNotFound: return WireJSON.place(of: error)
        case .dataCorrupted(let context), .typeMismatch(_, let context),
            .valueNotFound(_, let context):
            path = context.codingPath
        @unknown default: return WireJSON.place(of: error)
        }
        return path.isEmpty ? "The body is not a JSON object" : WireJSON.place(of: error)
    }
}

/// The keys of a JSON object.
private struct ObjectKeys: Decodable {
    let all: [String]
    /// Those whose value is null.
    let withoutValue: [String]

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let keys = values.allKeys.sorted { $0.stringValue < $1.stringValue }
        all = keys.map(\.stringValue)
        withoutValue = try keys.filter { try values.decodeNil(forKey: $0) }.map(\.stringValue)
    }
}
