/// Untrusted text made safe for a terminal: it cannot move the cursor, change the terminal or
/// reorder a line.
package enum TerminalText {
    /// Returns any text as a single line.
    package static func line(_ text: String) -> String {
        String(text.map { $0.isNewline || $0 == "\t" ? " " : shown($0) })
    }

    /// Returns text with its lines kept.
    package static func lines(_ text: String) -> String {
        String(text.map { $0 == "\r\n" ? "\n" : $0 == "\n" || $0 == "\t" ? $0 : shown($0) })
    }

    private static func shown(_ character: Character) -> Character {
        let isUnsafe = character.unicodeScalars.contains { scalar in
            switch scalar.value {
            // Marks that change the text direction, and other line separators.
            case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
            default: scalar.properties.generalCategory == .control
            }
        }
        return isUnsafe ? "\u{FFFD}" : character
    }
}
