/// The rules for names of record types and fields.
enum FieldNames {
    private static let lengthLimit = 255

    /// Names that every record already has, and the store's own.
    private static let reserved: Set<String> = [
        "recordid", "recordname", "recordtype", "creationdate", "creatoruserrecordid",
        "lastmodifieduserrecordid", "modificationdate", "modifieddevice", "recordchangetag",
        RecordStamp.field.lowercased(), RecordForms.field.lowercased(),
        RecordForms.encryptedField.lowercased(),
    ]

    /// Returns the reason why a name is invalid; nil if it is valid.
    static func problem(_ name: String) -> String? {
        guard let first = name.utf8.first else { return "is empty" }
        if name.utf8.count > lengthLimit {
            return "has \(name.utf8.count) characters; at most \(lengthLimit) are allowed"
        }
        guard isLetter(first),
            name.utf8.allSatisfy({ isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") })
        else {
            return "does not start with a letter and go on with letters, digits and underscores"
        }
        return nil
    }

    /// Returns whether a name is reserved and cannot be a field's.
    static func isReserved(_ name: String) -> Bool { reserved.contains(name.lowercased()) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
