public import Foundation

/// A value of an attribute, as Core Data's types tell values apart.
public enum CoreDataValue: Hashable, Sendable {
    /// A value of `Integer 16`, `Integer 32` or `Integer 64`.
    case integer(Int64)
    /// A value of `Double` or `Float`.
    case double(Double)
    /// A decimal number, with all its digits.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// A truth value.
    case boolean(Bool)
    /// A point in time.
    case date(Date)
    /// A value of `Binary`, and one of `Transformable` or `Composite` in its stored form.
    case bytes(Data)
    /// An identifier.
    case uuid(UUID)
    /// An address as absolute text, which need not be one for Foundation.
    case uri(String)
}

extension CoreDataValue {
    /// Reads text as a value of a type; nil where it is none.
    init?(_ text: String, as type: CoreDataModel.AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64:
            guard let number = Int64(text) ?? Double(text).flatMap({ Int64(exactly: $0) }) else {
                return nil
            }
            self = .integer(number)
        case .double, .float:
            guard let number = Double(text), number.isFinite else { return nil }
            self = .double(number)
        case .decimal:
            guard let number = Self.decimal(text) else { return nil }
            self = .decimal(number)
        case .boolean:
            guard let flag = Self.flag(text) else { return nil }
            self = .boolean(flag)
        case .uuid:
            guard let identifier = UUID(uuidString: text) else { return nil }
            self = .uuid(identifier)
        case .uri: self = .uri(text)
        case .string, .date, .binary, .transformable, .composite, .undefined, .objectID, .other:
            self = .string(text)
        }
    }

    /// A truth value as model files write it.
    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "1": true
        case "no", "false", "0": false
        default: nil
        }
    }

    /// `Decimal` reads the digits that it understands and forgets the rest, so the form is checked.
    private static func decimal(_ text: String) -> Decimal? {
        guard text.utf8.count <= 200,
            text.wholeMatch(of: /[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?/) != nil
        else { return nil }
        let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        return number.flatMap { $0.isNaN ? nil : $0 }
    }
}
