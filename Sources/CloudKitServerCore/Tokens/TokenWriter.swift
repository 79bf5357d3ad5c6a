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
