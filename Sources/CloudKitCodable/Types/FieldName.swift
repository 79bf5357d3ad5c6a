import CloudKit

/// What CloudKit says of the names of fields, records and record types.
enum FieldName {
    /// The properties of a record: a field of such a name cannot be told from them in a query.
    private static let properties: Set<String> = [
        "recordID", "recordType", "recordName", "recordChangeTag", "creationDate",
        "creatorUserRecordID", "modificationDate", "lastModifiedUserRecordID", "parent", "share",
    ]

    /// Why a name cannot be a field's; nil when it can.
    static func problem(_ name: String, strict: Bool) -> String? {
        if !isIdentifier(name) {
            return """
                CloudKit's field names start with a letter and hold up to 255 ASCII letters, \
                digits and underscores; give the property another coding key
                """
        }
        // Letters that no reserved name starts with are most of the alphabet.
        if strict, let first = name.utf8.first, "rcmlps".utf8.contains(first),
            properties.contains(name)
        {
            return "the name is reserved for a property of every record; choose another coding key"
        }
        return nil
    }

    /// Whether a name is a letter with letters, digits and underscores behind it.
    static func isIdentifier(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { bytes in
            guard let first = bytes.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A,
                bytes.count <= 255
            else { return false }
            for byte in bytes {
                let set = byte < 64 ? digits : letters
                if byte >= 128 || (set &>> UInt64(byte & 63)) & 1 == 0 { return false }
            }
            return true
        }
    }

    /// The digits among the first 64 characters, a bit for each.
    private static let digits: UInt64 = 0x03FF_0000_0000_0000

    /// The letters and the underscore among the next 64.
    private static let letters: UInt64 = 0x07FF_FFFE_87FF_FFFE

    /// Why a name cannot be a record's; nil when it can.
    static func problem(recordName name: String) -> String? {
        let bytes = name.utf8
        if bytes.isEmpty { return "the record name is empty" }
        if bytes.count > 255 { return "the record name is longer than 255 characters" }
        if bytes.first == 0x5F { return "a record name that starts with _ is reserved" }
        if bytes.contains(where: { $0 >= 0x80 }) { return "a record name is ASCII" }
        return nil
    }
}
