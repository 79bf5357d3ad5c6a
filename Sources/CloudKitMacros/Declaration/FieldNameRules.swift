#if Macros
/// CloudKit's rules for the names of fields, as the coders check them at run time.
enum FieldNameRules {
    /// The properties of a record: queries cannot distinguish a field of one of these names from the
    /// property.
    static let reserved: Set<String> = [
        "recordID", "recordType", "recordName", "recordChangeTag", "creationDate",
        "creatorUserRecordID", "modificationDate", "lastModifiedUserRecordID", "parent", "share",
    ]

    /// Keys whose values are the record's own.
    static let readFromRecord: Set<String> = ["cloudKitSystemFields", "cloudKitIdentifier"]

    /// Returns the reason why a name cannot be a field's; nil when it can.
    static func problem(_ name: String) -> String? {
        if !isIdentifier(name) {
            return """
                field names start with a letter and hold up to 255 ASCII letters, digits and \
                underscores
                """
        }
        return reserved.contains(name) ? "the name is a property of every record" : nil
    }

    /// Returns whether a name is a letter followed by letters, digits and underscores.
    static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.first, first.isASCII, first.isLetter, name.utf8.count <= 255 else {
            return false
        }
        return name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }
}
#endif
