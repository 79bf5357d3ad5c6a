import CloudKit

/// CloudKit's rules for the names of fields, records and record types.
enum FieldName {
    /// The properties of a record: queries cannot distinguish a field of one of these names from the
    /// property.
    private static let properties: Set<String> = [
        "recordID", "recordType", "recordName", "recordChangeTag", "creationDate",
        "creatorUserRecordID", "modificationDate", "lastModifiedUserRecordID", "parent", "share",
    ]

    /// Returns the reason why a name cannot be a field's; nil when it can.
    @inline(__always)
    static func problem(_ name: String, strict: Bool) -> String? {
        switch kind(name) {
        case .plain: nil
        case .perhapsReserved where !strict || !properties.contains(name): nil
        case .perhapsReserved where name == "recordName":
            "the name is reserved for a property of every record; use .recordName for it in fields "
                + "if it is this record's name, or choose another coding key"
        case .perhapsReserved:
            "the name is reserved for a property of every record; choose another coding key"
        case .invalid:
            """
            CloudKit's field names start with a letter and hold up to 255 ASCII letters, digits \
            and underscores; give the property another coding key
            """
        }
    }

    private enum Kind {
        case plain
        case perhapsReserved
        case invalid
    }

    /// Returns whether a name is a letter followed by letters, digits and underscores.
    static func isIdentifier(_ name: String) -> Bool { kind(name) != .invalid }

    /// Returns the reason why a name cannot be a record type's; nil when it can.
    static func problem(recordType name: String) -> String? {
        if isIdentifier(name) { return nil }
        return "\(name) cannot be a record type: state one of letters, digits and underscores"
    }

    /// Returns the kind of a name after one look at every byte; lower-case letters, the most
    /// frequent, cost least.
    private static func kind(_ name: String) -> Kind {
        var name = name
        return name.withUTF8 { bytes in
            guard let first = bytes.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A,
                bytes.count <= 255
            else { return .invalid }
            for byte in bytes where byte &- 0x61 >= 26 {
                let isDigit = byte &- 0x30 < 10
                let isCapital = byte &- 0x41 < 26
                guard isDigit || isCapital || byte == 0x5F else { return .invalid }
            }
            // Most letters of the alphabet begin no reserved name.
            switch first {
            case UInt8(ascii: "r"), UInt8(ascii: "c"), UInt8(ascii: "m"), UInt8(ascii: "l"),
                UInt8(ascii: "p"), UInt8(ascii: "s"):
                return .perhapsReserved
            default: return .plain
            }
        }
    }

    /// Returns the reason why a name cannot be a record's; nil when it can.
    static func problem(recordName name: String) -> String? {
        var name = name
        return name.withUTF8 { bytes in
            if bytes.isEmpty { return "the record name is empty" }
            if bytes.count > 255 { return "the record name is longer than 255 characters" }
            if bytes[0] == 0x5F { return "a record name that starts with _ is reserved" }
            return bytes.allSatisfy { $0 < 0x80 } ? nil : "a record name is ASCII"
        }
    }
}
