package import CloudKitWebClient

/// A field in the syntax of the command line: `KEY=VALUE` or `KEY:TYPE=VALUE`.
package struct FieldExpression: Sendable {
    /// The field's name.
    package let key: String
    /// The field.
    package let field: WireField

    /// Creates a field by parsing an expression.
    ///
    /// - Throws: `CommandFailure` that repeats the expression.
    package init(_ text: String) throws {
        guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
            throw CommandFailure(unusable: "'\(text)' is not a field: KEY=VALUE or KEY:TYPE=VALUE")
        }
        let name = try FieldName(String(text[..<sign]))
        let value = String(text[text.index(after: sign)...])
        key = name.key
        do {
            let typed = try name.type.map { try ValueText.value(value, as: $0) }
            field = WireField(
                try typed ?? ValueText.value(value, of: key),
                isEncrypted: name.isEncrypted
            )
        } catch let error as ValueText.Mismatch {
            throw CommandFailure(unusable: "Field \(key): \(error)")
        }
    }
}
