#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
import CloudKitWire

/// A plan of the faults of a service; the same plan and the same requests produce the same faults.
///
/// ```swift
/// let plan = FaultPlan(seed: 7, rules: [
///     FaultRule(.error(.throttled, retryAfter: 1), operation: "records/modify", call: 3),
///     FaultRule(.lostResponse, recordType: "Note", probability: 0.1),
/// ])
/// ```
///
/// As JSON, in a file or over HTTP:
///
/// ```json
/// {"seed": 7, "rules": [
///     {"fault": "error", "code": "THROTTLED", "retryAfter": 1,
///      "operation": "records/modify", "call": 3},
///     {"fault": "lostResponse", "recordType": "Note", "probability": 0.1}
/// ]}
/// ```
public struct FaultPlan: Hashable, Sendable, Codable {
    /// The seed of the random numbers of all rules; the same seed produces the same numbers.
    public var seed: UInt64
    /// The rules; all that match a request take effect.
    ///
    /// A rule whose fault another one hides, as the first of two errors does, does not match.
    public var rules: [FaultRule]

    /// Creates a plan.
    public init(seed: UInt64 = 1, rules: [FaultRule] = []) {
        self.seed = seed
        self.rules = rules
    }

    /// Reads a plan from JSON.
    ///
    /// - Throws: `FaultPlanError` with the position of the first mistake.
    public init(json: Data) throws(FaultPlanError) {
        if let mistake = JSONBounds.mistake(in: json) {
            throw FaultPlanError("The plan \(mistake)")
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: json)
        } catch let DecodingError.dataCorrupted(context)
            where context.underlyingError is FaultPlanError
        {
            throw FaultPlanError(Self.place(context.codingPath) + context.debugDescription)
        } catch let error as DecodingError {
            throw FaultPlanError("The faults cannot be read: \(WireJSON.place(of: error))")
        } catch {
            throw FaultPlanError("The faults cannot be read")
        }
    }

    /// The plan as JSON.
    public var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        // A plan contains nothing that JSON cannot represent.
        return (try? encoder.encode(self)) ?? Data()
    }

    /// Decodes a plan; missing keys have their defaults.
    ///
    /// An unknown key is an error because a misspelled plan without rules would cause no faults,
    /// and its author would not notice.
    public init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: FaultRule.AnyKey.self).allKeys.map(\.stringValue)
        let known = CodingKeys.allCases.map(\.stringValue)
        if let key = keys.sorted().first(where: { !known.contains($0) }) {
            throw FaultPlanError.decoding(
                "'\(key)' means nothing in a plan, which has seed and rules"
                    + NearestName.advice(for: key, in: known),
                at: decoder.codingPath
            )
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        seed = try container.decodeIfPresent(UInt64.self, forKey: .seed) ?? 1
        rules = try container.decodeIfPresent([FaultRule].self, forKey: .rules) ?? []
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case seed, rules
    }

    private static func place(_ path: [any CodingKey]) -> String {
        let text = path.map { key in key.intValue.map { "[\($0)]" } ?? "." + key.stringValue }
            .joined()
        return text.isEmpty ? "" : String(text.drop { $0 == "." }) + ": "
    }
}

/// An error that is thrown when a text is not a fault plan.
public struct FaultPlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position of the mistake, and the expected text.
    public var description: String

    /// Creates an error.
    public init(_ description: String) {
        self.description = description
    }

    /// Returns a mistake in the form in which decoders throw, distinct from those of Foundation.
    static func decoding(_ message: String, at path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(
            .init(
                codingPath: path,
                debugDescription: message,
                underlyingError: FaultPlanError(message)
            )
        )
    }
}

/// The number of matching requests and of faults for one rule of a plan.
public struct FaultCount: Hashable, Sendable, Codable {
    /// The number of requests that the rule matched.
    public var fitting: Int
    /// The number of times that its fault happened.
    public var taken: Int

    /// Creates a count.
    public init(fitting: Int, taken: Int) {
        self.fitting = fitting
        self.taken = taken
    }
}
