#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
import CloudKitWire

/// What goes wrong with a service on purpose, and when: the same plan and the same requests give the
/// same faults.
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
    /// Where the chances of all rules start; the same seed draws the same chances.
    public var seed: UInt64
    /// The rules; all that fit a request take effect, and of two errors the first one.
    public var rules: [FaultRule]

    /// Makes a plan.
    public init(seed: UInt64 = 1, rules: [FaultRule] = []) {
        self.seed = seed
        self.rules = rules
    }

    /// Reads a plan.
    ///
    /// - Throws: `FaultPlanError` that names the place of the first mistake.
    public init(json: Data) throws(FaultPlanError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: json)
        } catch let DecodingError.dataCorrupted(context) where context.underlyingError == nil {
            throw FaultPlanError(Self.place(context.codingPath) + context.debugDescription)
        } catch let error as DecodingError {
            throw FaultPlanError("The faults cannot be read: \(WireJSON.place(of: error))")
        } catch {
            throw FaultPlanError("The faults are not JSON")
        }
    }

    /// The plan as JSON.
    public var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        // A plan has nothing that JSON cannot hold.
        return (try? encoder.encode(self)) ?? Data()
    }

    /// Reads a plan; what is missing has its default.
    ///
    /// A key that a plan does not have is a mistake, not a remark: a plan without rules lets nothing
    /// go wrong, and who wrote it would not notice.
    public init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: FaultRule.AnyKey.self).allKeys.map(\.stringValue)
        let known = CodingKeys.allCases.map(\.stringValue)
        if let key = keys.sorted().first(where: { !known.contains($0) }) {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "'\(key)' means nothing in a plan, which has seed and rules"
                        + NearestName.advice(for: key, in: known)
                )
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

/// Why a text is no plan of faults.
public struct FaultPlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where the mistake is, and what is expected there.
    public var description: String

    /// Makes an error.
    public init(_ description: String) {
        self.description = description
    }
}
