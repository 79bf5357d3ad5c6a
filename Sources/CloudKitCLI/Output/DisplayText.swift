import CloudKitServer

/// Text for a terminal: on one line, with its width in cells.
package struct DisplayText: Hashable, Sendable {
    /// The text, with replacements for characters that would move the cursor or reorder the line.
    package let text: String

    /// Creates one line from any text.
    package init(_ text: String) {
        // Records may be untrusted: an escape sequence in a field must not reach the terminal.
        self.text = TerminalText.line(text)
    }

    /// The width of the text in cells.
    package var width: Int { text.reduce(0) { $0 + Self.width($1) } }

    /// Returns the text truncated to a number of cells, with a sign of the truncation.
    package func cut(to cells: Int) -> String {
        guard width > cells else { return text }
        var cut = ""
        var used = 0
        for character in text {
            let more = Self.width(character)
            guard used + more < cells else { break }
            cut.append(character)
            used += more
        }
        return cut + "…"
    }

    /// Returns the text padded with spaces to a number of cells.
    package func padded(to cells: Int) -> String {
        let text = cut(to: cells)
        return text + String(repeating: " ", count: max(0, cells - DisplayText(text).width))
    }

    private static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        let isEmoji = character.unicodeScalars.contains {
            $0.properties.isEmojiPresentation || $0.value == 0xFE0F
        }
        return isEmoji || isWide(first.value) ? 2 : 1
    }

    /// Returns whether a scalar is wide or fullwidth in Unicode's East Asian Width.
    private static func isWide(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
