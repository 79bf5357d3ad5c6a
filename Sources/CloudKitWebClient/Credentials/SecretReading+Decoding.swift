extension SecretReading {
    /// The contents of the text in base64, in hexadecimal digits and in numbers, wherever they begin.
    var decoded: [SecretReading] {
        (0..<4).map(base64) + (0..<2).map(hexadecimal) + [2, 8, 10, 16].map(numbers)
    }

    /// The meaning of a character in a code.
    private enum Meaning {
        case digit(UInt8)
        /// A separator that may occur between digits.
        case nothing
        case end
    }

    /// Decodes base64 of both alphabets, starting at an offset within its groups of four characters.
    private func base64(from first: Int) -> SecretReading {
        decoded(from: first, bits: 6) { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): .digit(byte - UInt8(ascii: "A"))
            case UInt8(ascii: "a")...UInt8(ascii: "z"): .digit(byte - UInt8(ascii: "a") + 26)
            case UInt8(ascii: "0")...UInt8(ascii: "9"): .digit(byte - UInt8(ascii: "0") + 52)
            case UInt8(ascii: "+"), UInt8(ascii: "-"): .digit(62)
            case UInt8(ascii: "/"), UInt8(ascii: "_"): .digit(63)
            case UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: " "):
                .nothing
            default: .end
            }
        }
    }

    /// Decodes hexadecimal digits, whatever separates them, starting at an offset within their pairs.
    private func hexadecimal(from first: Int) -> SecretReading {
        decoded(from: first, bits: 4) { byte in
            if let digit = byte.digit(radix: 16) { return .digit(digit) }
            return byte.digit(radix: 36) == nil ? .nothing : .end
        }
    }

    /// Decodes runs of digits with a number of bits each that are long enough for a secret.
    private func decoded(
        from first: Int,
        bits: Int,
        _ meaning: (UInt8) -> Meaning
    ) -> SecretReading {
        var reading = SecretReading()
        var run: [(digit: UInt8, index: Int)] = []
        func end() {
            if run.count * bits >= SecretSearch.shortest * 8 {
                reading.append(joined(run.dropFirst(first), bits: bits))
            }
            run = []
        }
        for (index, byte) in bytes.enumerated() {
            switch meaning(byte) {
            case .digit(let digit): run.append((digit, index))
            case .nothing: break
            case .end: end()
            }
        }
        end()
        return reading
    }

    /// Returns the bytes that digits with a number of bits each form together.
    private func joined(_ run: ArraySlice<(digit: UInt8, index: Int)>, bits: Int) -> SecretReading {
        var reading = SecretReading()
        var pending: (value: UInt, bits: Int, start: Int) = (0, 0, 0)
        for (digit, index) in run {
            if pending.bits == 0 { pending.start = index }
            pending.value = pending.value << UInt(bits) | UInt(digit)
            pending.bits += bits
            guard pending.bits >= 8 else { continue }
            pending.bits -= 8
            let byte = UInt8(truncatingIfNeeded: pending.value >> UInt(pending.bits))
            reading.append(byte, from: place(of: pending.start..<(index + 1)))
            // The rest of the digit belongs to the next byte.
            pending.start = index
        }
        return reading
    }

    /// Decodes lists of numbers, each of which is a byte, that are long enough for a secret.
    private func numbers(radix: UInt8) -> SecretReading {
        var reading = SecretReading()
        var run = SecretReading()
        var index = 0
        while index < bytes.count {
            let word = bytes[index...].prefix { $0.digit(radix: 36) != nil }
            guard !word.isEmpty else {
                index += 1
                continue
            }
            let digits = Self.withoutSign(word, radix: radix)
            if let byte = digits.number(radix: radix).flatMap(UInt8.init(exactly:)) {
                run.append(byte, from: place(of: word.startIndex..<word.endIndex))
            } else if !digits.isEmpty {
                if run.bytes.count >= SecretSearch.shortest { reading.append(run) }
                run = SecretReading()
            }
            index = word.endIndex
        }
        if run.bytes.count >= SecretSearch.shortest { reading.append(run) }
        return reading
    }

    /// Returns a number without a leading `0x`, `0o`, `0b`, `U+` and zeros.
    private static func withoutSign(_ word: ArraySlice<UInt8>, radix: UInt8) -> ArraySlice<UInt8> {
        let zero = UInt8(ascii: "0")
        let rest = word.drop { $0 == zero }
        guard let sign = rest.first, sign.digit(radix: radix) == nil, "bouxBOUX".utf8.contains(sign)
        else { return rest }
        return rest.dropFirst().drop { $0 == zero }
    }
}
