/// The condition of a case's predicate.
indirect enum OracleCondition: Sendable {
    enum Order: String, CaseIterable, Sendable {
        case equals = "==", differs = "!=", below = "<", notAbove = "<=", above = ">"
        case notBelow = ">="

        var mirrored: String {
            switch self {
            case .below: ">"
            case .notAbove: ">="
            case .above: "<"
            case .notBelow: "<="
            default: rawValue
            }
        }
    }

    case everything
    case nothing
    case compare(String, Order, OracleValue, isMirrored: Bool)
    case between(String, OracleValue, OracleValue)
    case isIn(String, [OracleValue])
    case begins(String, String)
    case has(String, OracleValue, form: Int)
    case hasAny(String, [OracleValue])
    case anyBegins(String, String)
    case record(Order, OracleValue, isMirrored: Bool)
    case records([OracleValue])
    case madeBy(Order, isMe: Bool, byName: Bool)
    case near(String, OracleValue, Double, isStrict: Bool)
    case words(String, all: Bool)
    case not(OracleCondition)
    case all([OracleCondition])

    /// Returns whether a record satisfies the condition; a record without a value satisfies `!=` and
    /// `NOT` of equality or membership, but no order and no `NOT` of one.
    func holds(_ record: OracleRecord) -> Bool {
        switch self {
        case .everything: return true
        case .nothing: return false
        case .compare(let field, let order, let value, _):
            return Self.isTrue(record.fields[field], order, value, record.zone)
        case .between(let field, let low, let high):
            return Self.isTrue(record.fields[field], .notBelow, low, record.zone)
                && Self.isTrue(record.fields[field], .notAbove, high, record.zone)
        case .isIn(let field, let values):
            guard let found = record.fields[field] else { return false }
            return values.contains { found.isSame($0, in: record.zone) }
        case .begins(let field, let prefix):
            return Self.starts(record.fields[field], prefix)
        case .has(let field, let value, _):
            return Self.members(record.fields[field]).contains { $0.isSame(value, in: record.zone) }
        case .hasAny(let field, let values):
            return Self.members(record.fields[field]).contains { member in
                values.contains { member.isSame($0, in: record.zone) }
            }
        case .anyBegins(let field, let prefix):
            return Self.members(record.fields[field]).contains { Self.starts($0, prefix) }
        case .record(let order, let value, _):
            return record.identity.isSame(value, in: record.zone) == (order == .equals)
        case .records(let values):
            return values.contains { record.identity.isSame($0, in: record.zone) }
        case .madeBy(let order, let isMe, _): return isMe == (order == .equals)
        case .near(let field, let centre, let metres, let isStrict):
            guard let distance = record.fields[field]?.metres(to: centre) else { return false }
            return metres > 0
                ? distance <= metres
                : !isStrict && metres == 0 && record.fields[field]?.isSame(centre, in: "") == true
        case .words(let text, let all):
            let wanted = OracleValue.text(text).words
            if wanted.isEmpty { return true }
            let texts = ["s", "t", "ls"].compactMap { record.fields[$0] }
            let found = OracleValue.list(texts).words
            return all ? wanted.isSubset(of: found) : !wanted.isDisjoint(with: found)
        case .not(let condition): return condition.fails(record)
        case .all(let conditions): return conditions.allSatisfy { $0.holds(record) }
        }
    }

    /// Returns whether the opposite of the condition holds.
    private func fails(_ record: OracleRecord) -> Bool {
        guard case .compare(let field, let order, let value, _) = self else {
            return !holds(record)
        }
        let opposite: Order =
            switch order {
            case .equals: .differs
            case .differs: .equals
            case .below: .notBelow
            case .notAbove: .above
            case .above: .notAbove
            case .notBelow: .below
            }
        return Self.isTrue(record.fields[field], opposite, value, record.zone)
    }

    private static func isTrue(
        _ found: OracleValue?,
        _ order: Order,
        _ value: OracleValue,
        _ zone: String
    ) -> Bool {
        guard let found else { return order == .differs }
        switch order {
        case .equals: return found.isSame(value, in: zone)
        case .differs: return !found.isSame(value, in: zone)
        default: break
        }
        guard let place = found.order(value) else { return false }
        return switch order {
        case .below: place < 0
        case .notAbove: place <= 0
        case .above: place > 0
        default: place >= 0
        }
    }

    private static func starts(_ value: OracleValue?, _ prefix: String) -> Bool {
        guard case .text(let text) = value else { return false }
        return Array(text.utf8).prefix(prefix.utf8.count) == Array(prefix.utf8)[...]
    }

    private static func members(_ value: OracleValue?) -> [OracleValue] {
        if case .list(let members) = value { members } else { [] }
    }
}
