import CloudKit
import Foundation

/// A condition as an app writes it: a format with its arguments.
struct CaseFormat {
    private(set) var format = ""
    private(set) var arguments: [Any] = []
    /// The record name of the user.
    private let user: String

    init(_ condition: OracleCondition, user: String) {
        self.user = user
        format = write(condition)
    }

    var predicate: NSPredicate { NSPredicate(format: format, argumentArray: arguments) }

    private mutating func argument(_ value: Any) -> String {
        arguments.append(value)
        return "%@"
    }

    private mutating func pair(
        _ key: String,
        _ order: OracleCondition.Order,
        _ value: Any,
        _ isMirrored: Bool
    ) -> String {
        isMirrored
            ? "\(argument(value)) \(order.mirrored) \(key)"
            : "\(key) \(order.rawValue) \(argument(value))"
    }

    /// Returns a link in the form that apps compare with an identity.
    private static func identity(_ value: OracleValue) -> Any {
        guard case .link(let zone, let name) = value else { return value.native }
        return OracleValue.identity(zone, name)
    }

    private mutating func write(_ condition: OracleCondition) -> String {
        switch condition {
        case .everything: return "TRUEPREDICATE"
        case .nothing: return "FALSEPREDICATE"
        case .compare(let field, let order, let value, let isMirrored):
            return pair(field, order, value.native, isMirrored)
        case .between(let field, let low, let high):
            return "\(field) BETWEEN \(argument([low.native, high.native] as [Any]))"
        case .isIn(let field, let values):
            return "\(field) IN \(argument(values.map(\.native) as [Any]))"
        case .begins(let field, let prefix): return "\(field) BEGINSWITH \(argument(prefix))"
        case .has(let field, let value, let form):
            switch form {
            case 0: return "\(field) CONTAINS \(argument(value.native))"
            case 1: return "ANY \(field) == \(argument(value.native))"
            case 2: return "\(argument(value.native)) IN \(field)"
            default: return "SOME \(field) CONTAINS \(argument(value.native))"
            }
        case .hasAny(let field, let values):
            return "ANY \(field) IN \(argument(values.map(\.native) as [Any]))"
        case .anyBegins(let field, let prefix):
            return "ANY \(field) BEGINSWITH \(argument(prefix))"
        case .record(let order, let value, let isMirrored):
            return pair("recordID", order, Self.identity(value), isMirrored)
        case .records(let values):
            return "recordID IN \(argument(values.map(Self.identity) as [Any]))"
        case .madeBy(let order, let isMe, let byName):
            let name = isMe ? (byName ? user : CKCurrentUserDefaultName) : "_somebody"
            return pair(
                "creatorUserRecordID",
                order,
                CKRecord.ID(recordName: name),
                !byName
            )
        case .near(let field, let centre, let metres, let isStrict):
            return "distanceToLocation:fromLocation:(\(field), \(argument(centre.native))) "
                + "\(isStrict ? "<" : "<=") \(argument(metres))"
        case .words(let text, let all):
            return all ? "self TOKENMATCHES \(argument(text))" : "self CONTAINS \(argument(text))"
        case .not(let condition): return "NOT (\(write(condition)))"
        case .all(let conditions):
            var parts: [String] = []
            for part in conditions { parts.append(write(part)) }
            return parts.joined(separator: " AND ")
        }
    }
}
