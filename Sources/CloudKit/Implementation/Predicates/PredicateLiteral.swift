/// Reads the text between two quotation marks of a format, with its escapes.
///
/// `\n`, `\r`, `\t`, `\a`, `\b`, `\f`, `\v`, `\e`, `\x78`, `\u0078` and `\170` have their meanings
/// in C; a backslash before anything but a letter or digit stands for that character. Other letters
/// are refused, because a guess would search for another text.
struct PredicateLiteral {
    private let scalars: [Unicode.Scalar]
    private let start: Int
    /// The index of the next scalar.
    private(set) var index: Int

    /// Creates a reader of the text after a quotation mark.
    init(_ scalars: [Unicode.Scalar], from index: Int) {
        self.scalars = scalars
        self.index = index
        start = index
    }

    /// Reads up to the closing quotation mark, and past it.
    mutating func text(until quote: Unicode.Scalar) throws(PredicateError) -> String {
        var text = String.UnicodeScalarView()
        while index < scalars.count {
            let scalar = scalars[index]
            index += 1
            if scalar == quote { return String(text) }
            text.append(scalar == "\\" && index < scalars.count ? try escaped() : scalar)
        }
        throw PredicateError("The text is not closed with \(quote)", at: start)
    }

    private static let controls: [Unicode.Scalar: Unicode.Scalar] = [
        "n": "\n", "r": "\r", "t": "\t", "a": "\u{7}", "b": "\u{8}", "f": "\u{C}", "v": "\u{B}",
        "e": "\u{1B}",
    ]

    /// Returns the scalar of an escape, after its backslash.
    private mutating func escaped() throws(PredicateError) -> Unicode.Scalar {
        let backslash = index
        let scalar = scalars[index]
        if "0"..."7" ~= scalar {
            return try number(radix: 8, digits: 1...3, backslash)
        }
        index += 1
        switch scalar {
        case "x": return try number(radix: 16, digits: 1...2, backslash)
        case "u":
            let first = try unit(digits: 4...4, radix: 16, backslash)
            guard 0xD800...0xDBFF ~= first, index + 1 < scalars.count, scalars[index] == "\\",
                scalars[index + 1] == "u"
            else { return try Self.scalar(first, backslash) }
            index += 2
            let second = try unit(digits: 4...4, radix: 16, backslash)
            guard 0xDC00...0xDFFF ~= second else { return try Self.scalar(first, backslash) }
            return try Self.scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00), backslash)
        case "U": return try number(radix: 16, digits: 8...8, backslash)
        default: break
        }
        if let control = Self.controls[scalar] { return control }
        guard !scalar.isASCII || !(scalar.properties.isAlphabetic || "0"..."9" ~= scalar) else {
            throw PredicateError(
                "\\\(scalar) is not an escape; write \\\\ for a backslash",
                at: backslash
            )
        }
        return scalar
    }

    private mutating func number(
        radix: Int,
        digits: ClosedRange<Int>,
        _ backslash: Int
    ) throws(PredicateError) -> Unicode.Scalar {
        try Self.scalar(try unit(digits: digits, radix: radix, backslash), backslash)
    }

    private mutating func unit(
        digits: ClosedRange<Int>,
        radix: Int,
        _ backslash: Int
    ) throws(PredicateError) -> UInt32 {
        var value: UInt32 = 0
        var count = 0
        while count < digits.upperBound, index < scalars.count,
            let digit = Character(scalars[index]).hexDigitValue, digit < radix,
            scalars[index].isASCII
        {
            value = value &* UInt32(radix) &+ UInt32(digit)
            count += 1
            index += 1
        }
        guard digits.contains(count) else {
            throw PredicateError("The escape lacks digits", at: backslash)
        }
        return value
    }

    private static func scalar(
        _ value: UInt32,
        _ backslash: Int
    ) throws(PredicateError) -> Unicode.Scalar {
        guard let scalar = Unicode.Scalar(value) else {
            throw PredicateError("The escape is not a valid character", at: backslash)
        }
        return scalar
    }
}
