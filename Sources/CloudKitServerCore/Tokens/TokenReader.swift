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
