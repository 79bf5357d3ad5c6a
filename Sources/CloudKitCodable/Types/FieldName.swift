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
            guard let first = bytes.first, bytes.count <= 255, isLetter(first) else { return false }
            for byte in bytes where !(isLetter(byte) || isDigit(byte) || byte == 0x5F) {
                return false
            }
            return true
        }
    }

    /// Why a name cannot be a record's; nil when it can.
    static func problem(recordName name: String) -> String? {
        let bytes = name.utf8
        if bytes.isEmpty { return "the record name is empty" }
        if bytes.count > 255 { return "the record name is longer than 255 characters" }
        if bytes.first == 0x5F { return "a record name that starts with _ is reserved" }
        if bytes.contains(where: { $0 >= 0x80 }) { return "a record name is ASCII" }
        return nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte)
    }
}
