import Foundation

/// A value of a column or field, as the oracle reads it.
enum OracleValue: Hashable, Sendable {
    case none
    case number(Int64)
    case real(Double)
    case text(String)
    case elements(Set<String>)

    /// Returns a list without an order; an empty one is no value.
    static func list(_ elements: [String]) -> OracleValue {
        elements.isEmpty ? .none : .elements(Set(elements))
    }

    /// Returns the content of a file.
    static func file(_ data: Data) -> OracleValue { .text("file \(data.base64EncodedString())") }
}

/// The rule that decides between two edits of one field, according to the guide.
enum OracleRule: Sendable {
    case later, server, client, smallest, greatest
    /// The app's custom rule: a text wins over no text, and of two texts the one that sorts later wins.
    case sortsLater
    /// Both steps of a counter count.
    case sum
    /// A list has what either side added, and lacks what either side removed.
    case set

    /// Returns a value as it is compared: a counter of nothing is none.
    func compared(_ value: OracleValue) -> OracleValue {
        if case .sum = self, value == .number(0) { .none } else { value }
    }

    /// Returns the value that has both edits of a common base; nil where one of them wins.
    func combination(
        of ours: OracleValue,
        _ theirs: OracleValue,
        since base: OracleValue
    ) -> OracleValue? {
        switch self {
        case .sum:
            compared(.number(theirs.count + ours.count - base.count))
        case .set:
            .list(
                Array(
                    theirs.members.union(ours.members.subtracting(base.members))
                        .subtracting(base.members.subtracting(ours.members))
                )
            )
        default: nil
        }
    }
}

extension OracleValue {
    /// The number of a counter.
    fileprivate var count: Int64 { if case .number(let number) = self { number } else { 0 } }

    /// The elements of a list.
    fileprivate var members: Set<String> {
        if case .elements(let elements) = self { elements } else { [] }
    }
}
