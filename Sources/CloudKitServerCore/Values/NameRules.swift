import CloudKitWire

/// The rules for names of records, zones, types and fields.
enum NameRules {
    /// Returns the reason to refuse a record name; nil if it is valid.
    static func recordName(_ name: String) -> String? { printable(name, "recordName") }

    /// Returns the reason to refuse a zone name; nil if it is valid.
    static func zoneName(_ name: String) -> String? { printable(name, "zoneName") }

    private static func printable(_ name: String, _ what: String) -> String? {
        if let reason = length(name, what) { return reason }
        if name.first == "_" { return "\(what) '\(name)' starts with an underscore" }
        if !name.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
            return "\(what) '\(name)' has characters other than printable ASCII"
        }
        return nil
    }

    private static func length(_ name: String, _ what: String) -> String? {
        if name.isEmpty { return "\(what) is empty" }
        return name.utf8.count > Limits.nameLength
            ? "\(what) has \(name.utf8.count) characters; at most \(Limits.nameLength) are allowed"
            : nil
    }

    /// Returns the reason to refuse a record type or field name; nil if it is valid.
    static func identifier(_ name: String, _ what: String) -> String? {
        if let reason = length(name, what) { return reason }
        guard let first = name.utf8.first, isLetter(first),
            name.utf8.allSatisfy({ isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") })
        else {
            return "\(what) '\(name)' must start with a letter and go on with letters, digits and "
                + "underscores"
        }
        return nil
    }

    /// Returns the reason to refuse a name by which people find something; nil if it is valid.
    static func label(_ name: String, _ what: String) -> String? {
        if name.allSatisfy(\.isWhitespace) { return "\(what) is blank; give one" }
        if name.utf8.count > Limits.nameLength {
            return "\(what) has \(name.utf8.count) bytes; at most \(Limits.nameLength) are allowed"
        }
        if let hidden = name.unicodeScalars.first(where: isMisleading) {
            let code = String(hidden.value, radix: 16, uppercase: true)
            return
                "\(what) has the character U+\(code), which nobody sees or which turns text around"
        }
        if name.unicodeScalars.allSatisfy({ $0.properties.generalCategory == .format }) {
            return "\(what) has only characters that nobody sees"
        }
        return isStep(name) ? "\(what) is '\(name)', which no address can name" : nil
    }

    /// Returns the reason to refuse the identifier of a container; nil if it is valid.
    static func container(_ name: String) -> String? {
        let isName = name.utf8.allSatisfy {
            isLetter($0) || isDigit($0) || ".-_".utf8.contains($0)
        }
        return isName && (1...255).contains(name.utf8.count) && !isStep(name)
            ? nil
            : "A container's identifier has 1 to 255 letters, digits, dots, hyphens and underscores, "
                + "such as iCloud.com.example.app"
    }

    /// Returns whether a name is a step of a path, which browsers take out of the path of a request.
    private static func isStep(_ name: String) -> Bool { name == "." || name == ".." }

    /// Returns whether a character makes a name look like another one: controls, and those that set the
    /// direction of text.
    private static func isMisleading(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
            || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
