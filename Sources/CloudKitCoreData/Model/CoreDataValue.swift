public import Foundation

/// A value of an attribute, with the distinctions of Core Data's types.
public enum CoreDataValue: Hashable, Sendable {
    /// A value of `Integer 16`, `Integer 32` or `Integer 64`.
    case integer(Int64)
    /// A value of `Double` or `Float`.
    case double(Double)
    /// A decimal number, with all its digits.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// A Boolean.
    case boolean(Bool)
    /// A date.
    case date(Date)
    /// A value of `Binary`, or a value of `Transformable` or `Composite` in its stored form.
    case bytes(Data)
    /// An identifier.
    case uuid(UUID)
    /// A URI as absolute text, which Foundation need not accept.
    case uri(String)
}

extension CoreDataValue {
    /// Creates a value of a type from text; nil when the text does not represent one.
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

    /// Returns a Boolean from its form in model files.
    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "1": true
        case "no", "false", "0": false
        default: nil
        }
    }

    /// Returns a decimal number; the form is checked first, because `Decimal` ignores digits that
    /// it does not understand.
    private static func decimal(_ text: String) -> Decimal? {
        guard text.utf8.count <= 200, text.isDecimalNumber else { return nil }
        let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        return number.flatMap { $0.isNaN ? nil : $0 }
    }
}

extension String {
    /// A Boolean value that indicates whether the text is a number such as `-12.5e3`, with a digit
    /// after the point.
    fileprivate var isDecimalNumber: Bool {
        var rest = utf8[...]
        rest.skip("+-")
        var digits = rest.skipDigits()
        if rest.skip(".") { digits = rest.skipDigits() }
        guard digits > 0 else { return false }
        if rest.skip("eE") {
            rest.skip("+-")
            guard rest.skipDigits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}

extension Substring.UTF8View {
    /// Removes the first byte if it is one of some characters, and returns whether it was.
    @discardableResult
    fileprivate mutating func skip(_ characters: StaticString) -> Bool {
        let isNext = characters.withUTF8Buffer { bytes in first.map(bytes.contains) ?? false }
        if isNext { removeFirst() }
        return isNext
    }

    /// Removes the digits at the start, and returns their number.
    fileprivate mutating func skipDigits() -> Int {
        let digits = prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
        removeFirst(digits)
        return digits
    }
}
