import CloudKitServerCore
import Foundation

/// A rule for faults as people write it, such as `error code=ZONE_BUSY operation=records/modify`.
struct FaultExpression {
    let rule: FaultRule

    /// The keys with numbers.
    private static let numbers: Set = [
        "retryAfter", "item", "bytes", "milliseconds", "bytesPerSecond", "burst", "perSecond",
        "call", "times", "probability",
    ]

    /// Reads a rule.
    ///
    /// - Parameters:
    ///   - fault: The name of the fault.
    ///   - settings: The rest, each as `KEY=VALUE`.
    /// - Throws: `CommandFailure` with the first mistake.
    init(_ fault: String, _ settings: [String]) throws {
        var members: [String: Any] = ["fault": fault]
        for setting in settings {
            let parts = setting.split(
                separator: "=",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            guard parts.count == 2 else {
                throw CommandFailure(
                    unusable: "'\(setting)' is not KEY=VALUE, such as operation=records/modify"
                )
            }
            let (key, text) = (String(parts[0]), String(parts[1]))
            guard members[key] == nil else {
                throw CommandFailure(unusable: "'\(key)' is there twice")
            }
            let number: Any? =
                Int(text) ?? Double(text).flatMap { $0.isFinite ? $0 : nil }
            members[key] = Self.numbers.contains(key) ? number ?? text : text
        }
        let plan = try JSONSerialization.data(withJSONObject: ["rules": [members]])
        do {
            rule = try FaultPlan(json: plan).rules[0]
        } catch {
            throw CommandFailure(
                unusable: error.description.replacing(/rules\[0\](?:: |\.)/, with: "")
            )
        }
    }

    /// Returns a rule in the form in which it is read.
    static func text(_ rule: FaultRule) throws -> String {
        let data = try JSONEncoder().encode(rule)
        var members = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
        let fault = members.removeValue(forKey: "fault") ?? ""
        let settings = members.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return (["\(fault)"] + settings).joined(separator: " ")
    }
}
