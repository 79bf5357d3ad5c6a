import Foundation

// The form of a format as a tree:
//
//     "age >= 18 AND NOT name BEGINSWITH %@", "A"
//
//     and
//     ├─ comparison  key(age)  >=  value(18)
//     └─ not
//        └─ comparison  key(name)  BEGINSWITH  value("A")

/// The contents of a predicate, with the positions of its parts in the format.
indirect enum PredicateTree: Sendable {
    case truth(Bool)
    case comparison(PredicateComparison)
    case and([PredicateTree])
    case or([PredicateTree], position: Int)
    case not(PredicateTree, position: Int)

    /// The maximum number of levels around a comparison or value, which protects the stack.
    ///
    /// One level is each `NOT`, bracket, list, sign and function call in a format, and each
    /// `NSCompoundPredicate`; the levels of a format add to those of the compounds around it.
    static let depthLimit = 200
}

/// Two expressions and the comparison between them.
struct PredicateComparison: Sendable {
    /// The members of a list on the left for which the comparison must hold.
    enum Modifier: String, Sendable {
        /// The left side is not a list, or is compared as a whole.
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
    /// The operator's position in the format, counted from 1.
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
    /// A value that no record can hold: the name of its type.
    case unusable(String)

    /// Creates a value from an argument of a format; a record stands for its ID.
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

    /// Returns a list, in which records and IDs become references.
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

    /// The value in a record; an ID becomes a reference.
    var field: FieldValue? {
        switch self {
        case .field(let value): value
        case .recordID(let recordID):
            .reference(CKRecord.Reference(recordID: recordID, action: .none))
        case .null, .unusable: nil
        }
    }
}

/// The reason why a format cannot be parsed or sent.
struct PredicateError: Error, Sendable {
    /// The error, and what to write instead.
    let message: String
    /// The position in the format, counted from 1; nil if the predicate has none.
    let position: Int?
    /// The format.
    var format: String?

    init(_ message: String, at position: Int?) {
        self.message = Self.shortened(message)
        self.position = position
    }
}

extension PredicateError {
    /// Returns the error for a predicate that is nested too deeply.
    static func tooDeep(at position: Int?) -> PredicateError {
        PredicateError(
            "The predicate is nested more than \(PredicateTree.depthLimit) levels deep; join its "
                + "parts with AND side by side",
            at: position
        )
    }
}

extension PredicateError: CustomStringConvertible {
    /// The message with the position.
    var description: String {
        switch (format, position) {
        case (let format?, let position?):
            "Predicate \"\(Self.excerpt(format, around: position))\", character \(position): "
                + message
        case (let format?, nil): "Predicate \"\(Self.excerpt(format, around: 1))\": \(message)"
        default: "Predicate: \(message)"
        }
    }

    /// Returns a format, or an excerpt of a long one around a position.
    private static func excerpt(_ format: String, around position: Int) -> String {
        let scalars = format.unicodeScalars
        let limit = 200
        guard scalars.count > limit else { return format }
        let before = max(0, min(position - 1 - limit / 2, scalars.count - limit))
        let part = scalars.dropFirst(before).prefix(limit)
        return (before > 0 ? "…" : "") + String(part)
            + (part.endIndex < scalars.endIndex ? "…" : "")
    }

    /// Returns a message, with the middle left out if it contains a long name or number.
    private static func shortened(_ message: String) -> String {
        let scalars = message.unicodeScalars
        let limit = 400
        guard scalars.count > limit else { return message }
        return String(scalars.prefix(limit / 2)) + "…" + String(scalars.suffix(limit / 2))
    }
}
