import CloudKitWebClient

/// A field's name with an optional type: `KEY` or `KEY:TYPE`.
struct FieldName {
    let key: String
    let type: FieldType?
    let isEncrypted: Bool

    /// Creates a name by parsing a text.
    ///
    /// - Throws: `CommandFailure` for a type that does not exist.
    init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        key = String(parts[0])
        guard parts.count > 1 else {
            type = nil
            isEncrypted = false
            return
        }
        let tag = parts[1].uppercased()
        guard let type = FieldType(tag: tag) else {
            let names = FieldType.Scalar.allCases.filter { $0 != .asset }.map(\.rawValue)
            throw CommandFailure(
                unusable: "Field \(key): no type \(parts[1]); there are "
                    + names.joined(separator: ", ")
                    + ", each with _LIST after it or ENCRYPTED_ before it"
            )
        }
        self.type = type
        isEncrypted = tag.hasPrefix("ENCRYPTED_")
    }
}
