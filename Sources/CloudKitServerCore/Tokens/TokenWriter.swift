/// Writes the contents of an opaque token: a sequence of numbers and texts.
struct TokenWriter {
    private(set) var bytes: [UInt8] = []

    /// Appends a number, seven bits to a byte.
    mutating func append(_ number: Int64) {
        var rest = UInt64(bitPattern: number)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Appends bytes after their count.
    mutating func append(_ contents: some Collection<UInt8>) {
        append(Int64(contents.count))
        bytes.append(contentsOf: contents)
    }

    /// Appends text after its length in UTF-8.
    mutating func append(_ text: String) { append(Array(text.utf8)) }
}

/// Reads the output of `TokenWriter`; every member returns nil if the bytes end too early.
struct TokenReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) {
        rest = ArraySlice(bytes)
    }

    /// Reads the next number.
    mutating func number() -> Int64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return Int64(bitPattern: value) }
        }
        return nil
    }

    /// Reads the next bytes.
    mutating func data() -> [UInt8]? {
        guard let count = number(), count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return Array(rest.prefix(Int(count)))
    }

    /// Reads the next text.
    mutating func text() -> String? {
        data().flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// `true` when everything was read.
    var isAtEnd: Bool { rest.isEmpty }
}
