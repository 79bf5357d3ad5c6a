package import CloudKitWebClient

/// A condition in the syntax of the command line: `age >= 18`, `title BEGINS_WITH Mil`, `place NEAR
/// 47.4,8.5 1000`.
package struct FilterExpression: Sendable {
    /// The condition.
    package let filter: WireFilter

    private static let signs: [String: Comparator] = [
        "==": .equals, "=": .equals, "!=": .notEquals, "<": .lessThan, "<=": .lessThanOrEquals,
        ">": .greaterThan, ">=": .greaterThanOrEquals,
    ]

    /// Creates a condition by parsing an expression.
    ///
    /// - Throws: `CommandFailure` that repeats the expression.
    package init(_ text: String) throws {
        // The value is all that follows the operator and a space: a text may be empty or begin with spaces.
        guard let parts = text.wholeMatch(of: /([^ ]+) +([^ ]+) (.*)/.dotMatchesNewlines()) else {
            throw CommandFailure(
                unusable: "'\(text)' is not a condition: FIELD OPERATOR VALUE, with spaces between"
            )
        }
        let sign = parts.2.uppercased()
        guard let comparator = Self.signs[sign] ?? Comparator(rawValue: sign) else {
            let names = Self.signs.keys.sorted() + Comparator.allCases.map(\.rawValue)
            throw CommandFailure(
                unusable: "'\(text)': no operator \(parts.2); there are "
                    + names.joined(separator: ", ")
            )
        }
        do {
            filter = try Self.filter(try FieldName(String(parts.1)), comparator, String(parts.3))
        } catch let error as ValueText.Mismatch {
            throw CommandFailure(unusable: "'\(text)': \(error)")
        }
    }

    private static func filter(
        _ name: FieldName,
        _ comparator: Comparator,
        _ text: String
    ) throws -> WireFilter {
        if comparator == .near {
            let parts = text.split(separator: " ", maxSplits: 1)
            let metres = parts.count > 1 ? Double(parts[1]) : nil
            guard let metres, metres.isFinite, metres > 0 else {
                throw ValueText.Mismatch(description: "NEAR takes LATITUDE,LONGITUDE METRES")
            }
            let place = try ValueText.value(String(parts[0]), as: FieldType(.location))
            return WireFilter(name.key, .near, place, distance: metres)
        }
        let system = SystemField(name: name.key)
        let scalar = name.type ?? system.map { FieldType($0.type) }
        // A list of texts for IN is read as a list even if the field has a single value. Any other text may begin like one
        // where its type is stated.
        let isListed =
            text.hasPrefix("[")
            && (comparator == .in || comparator == .notIn || name.type?.scalar != .string)
        let type = isListed ? scalar.map { FieldType(listOf: $0.scalar) } : scalar
        let value: WireValue
        if system?.type == .reference, isListed {
            value = try references(text)
        } else {
            value =
                try type.map { try ValueText.value(text, as: $0) }
                ?? ValueText.value(text, of: name.key)
        }
        return system.map { WireFilter($0, comparator, value) }
            ?? WireFilter(name.key, comparator, value)
    }

    /// Returns a list of record names as references.
    private static func references(_ text: String) throws -> WireValue {
        guard
            case .list(let names, _) = try ValueText.value(text, as: FieldType(listOf: .string))
        else { return .list([], of: .reference) }
        return .list(
            names.map { name in
                guard case .string(let name) = name else { return name }
                return .reference(WireReference(recordName: name))
            },
            of: .reference
        )
    }
}
