import CloudKitServer

/// Text as a terminal shows it: on one line, with the width of its cells.
package struct DisplayText: Hashable, Sendable {
    /// The text; what would move the cursor or reorder the line is replaced.
    package let text: String

    /// Makes one line of any text.
    package init(_ text: String) {
        // Records come from strangers: an escape sequence in a field must not reach the terminal.
        self.text = TerminalText.line(text)
    }

    /// The number of cells that the text takes.
    package var width: Int { text.reduce(0) { $0 + Self.width($1) } }

    /// The text cut to a number of cells, with a sign that something is missing.
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

    /// The text with spaces up to a number of cells.
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

    /// Whether Unicode's East Asian Width of a scalar is wide or full.
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
