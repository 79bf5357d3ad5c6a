import Foundation

// How a format becomes a tree:
//
//     "age >= 18 AND NOT name BEGINSWITH %@", "A"
//
//     and
//     ├─ comparison  key(age)  >=  value(18)
//     └─ not
//        └─ comparison  key(name)  BEGINSWITH  value("A")

/// What a predicate says, with the places of its parts in the format.
indirect enum PredicateTree: Sendable {
    case truth(Bool)
    case comparison(PredicateComparison)
    case and([PredicateTree])
    case or([PredicateTree], position: Int)
    case not(PredicateTree, position: Int)

    /// Levels that may stand around a comparison or value, so that no predicate exhausts the stack.
    ///
    /// One level is each `NOT`, bracket, list, sign and call of a function in a format, and each
    /// `NSCompoundPredicate`; those of a format count on from the compounds around it.
    static let depthLimit = 200
}

/// Two expressions and how they compare.
struct PredicateComparison: Sendable {
    /// Which members of a list on the left the comparison must hold for.
    enum Modifier: String, Sendable {
        /// The left side is no list, or is compared as a whole.
        case direct = ""
        case any = "ANY"
        case all = "ALL"
        case none = "NONE"
    }

    enum Operator: String, Sendable {
        case equals = "=="
        case notEquals = "!="
        case lessThan = "<"
        case lessThanOrEquals = "<="
        case greaterThan = ">"
        case greaterThanOrEquals = ">="
        case between = "BETWEEN"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case contains = "CONTAINS"
        case `in` = "IN"
        case like = "LIKE"
        case matches = "MATCHES"
        case tokenMatches = "TOKENMATCHES"
    }

    var modifier: Modifier
    var left: PredicateExpression
    var `operator`: Operator
    /// The letters in brackets after the operator: `c` ignores case, `d` accents.
    var options: Set<Character>
    var right: PredicateExpression
    /// Where the operator stands in the format, counted from 1.
    var position: Int
}

/// One side of a comparison.
indirect enum PredicateExpression: Sendable {
    case value(PredicateValue, position: Int)
    case key(String, position: Int)
    case object(position: Int)
    case variable(String, position: Int)
    case list([PredicateExpression], position: Int)
    case function(String, [PredicateExpression], position: Int)

    var position: Int {
        switch self {
        case .value(_, let position), .key(_, let position), .object(let position),
            .variable(_, let position), .list(_, let position), .function(_, _, let position):
            position
        }
    }
}

/// A constant of a predicate.
enum PredicateValue: Sendable {
    case null
    case field(FieldValue)
    case recordID(CKRecord.ID)
    /// Something no record can hold: the name of its type.
    case unusable(String)

    /// Takes an argument of a format; a record stands for its identity.
    init(argument: Any?) {
        switch argument {
        case nil, is NSNull: self = .null
        case let record as CKRecord: self = .recordID(record.recordID)
        case let recordID as CKRecord.ID: self = .recordID(recordID)
        case let list as [Any]: self = Self.list(list)
        case let set as Set<AnyHashable>: self = Self.list(Array(set))
        case .some(let object):
            self =
                FieldValue(exactly: object).map(Self.field) ?? .unusable("\(type(of: object))")
        }
    }

    /// A list, in which records and identities become references.
    private static func list(_ elements: [Any]) -> PredicateValue {
        var values: [FieldValue] = []
        for element in elements {
            switch PredicateValue(argument: element) {
            case .field(let value): values.append(value)
            case .recordID(let recordID):
                values.append(.reference(CKRecord.Reference(recordID: recordID, action: .none)))
            case .null: return .unusable("nil in a list")
            case .unusable(let type): return .unusable("list with \(type)")
            }
        }
        return .field(.list(values))
    }

    /// The value in a record; an identity becomes a reference.
    var field: FieldValue? {
        switch self {
        case .field(let value): value
        case .recordID(let recordID):
            .reference(CKRecord.Reference(recordID: recordID, action: .none))
        case .null, .unusable: nil
        }
    }
}

/// Why a format cannot be read, or not be sent.
struct PredicateError: Error, Sendable {
    /// What is wrong, and what to write instead.
    let message: String
    /// Where in the format, counted from 1; nil when the predicate has none.
    let position: Int?
    /// The format.
    var format: String?

    init(_ message: String, at position: Int?) {
        self.message = Self.shortened(message)
        self.position = position
    }
}

extension PredicateError {
    /// The error about a predicate that is nested too deeply.
    static func tooDeep(at position: Int?) -> PredicateError {
        PredicateError(
            "The predicate is nested more than \(PredicateTree.depthLimit) levels deep; join its "
                + "parts with AND side by side",
            at: position
        )
    }
}

extension PredicateError: CustomStringConvertible {
    /// The message with the place.
    var description: String {
        switch (format, position) {
        case (let format?, let position?):
            "Predicate \"\(Self.excerpt(format, around: position))\", character \(position): "
                + message
        case (let format?, nil): "Predicate \"\(Self.excerpt(format, around: 1))\": \(message)"
        default: "Predicate: \(message)"
        }
    }

    /// A format, or of a long one what stands around a place.
    private static func excerpt(_ format: String, around position: Int) -> String {
        let scalars = format.unicodeScalars
        let limit = 200
        guard scalars.count > limit else { return format }
        let before = max(0, min(position - 1 - limit / 2, scalars.count - limit))
        let part = scalars.dropFirst(before).prefix(limit)
        return (before > 0 ? "…" : "") + String(part)
            + (part.endIndex < scalars.endIndex ? "…" : "")
    }

    /// A message, or of one with a long name or number how it begins and ends.
    private static func shortened(_ message: String) -> String {
        let scalars = message.unicodeScalars
        let limit = 400
        guard scalars.count > limit else { return message }
        return String(scalars.prefix(limit / 2)) + "…" + String(scalars.suffix(limit / 2))
    }
}
