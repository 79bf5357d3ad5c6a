/// What names of record types and fields may be.
enum FieldNames {
    private static let lengthLimit = 255

    /// Names that every record has already, and those of the store.
    private static let reserved: Set<String> = [
        "recordid", "recordname", "recordtype", "creationdate", "creatoruserrecordid",
        "lastmodifieduserrecordid", "modificationdate", "modifieddevice", "recordchangetag",
        RecordStamp.field.lowercased(), RecordForms.field.lowercased(),
        RecordForms.encryptedField.lowercased(),
    ]

    /// Why a name is refused; nil when it is fine.
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

    /// Whether a field may not have the name.
    static func isReserved(_ name: String) -> Bool { reserved.contains(name.lowercased()) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
