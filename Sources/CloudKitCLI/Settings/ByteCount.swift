/// A number of bytes as people write it, such as `500MB`, `2 GiB` or `1000`.
package struct ByteCount: Hashable, Sendable {
    /// The bytes.
    package let bytes: Int64

    private static let units: [String: Int64] = [
        "": 1, "b": 1, "kb": 1000, "mb": 1_000_000, "gb": 1_000_000_000, "tb": 1_000_000_000_000,
        "k": 1000, "m": 1_000_000, "g": 1_000_000_000, "t": 1_000_000_000_000,
        "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
    ]

    /// Creates a number of bytes.
    init(bytes: Int64) { self.bytes = bytes }

    /// Creates a number of bytes from text; nil for text that is not a number above 0 with an
    /// optional unit.
    package init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count).filter { $0 != " " }.lowercased()
        guard let number = Int64(digits), number > 0, let factor = Self.units[unit] else {
            return nil
        }
        let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: factor)
        guard !isTooMuch else { return nil }
        self.bytes = bytes
    }
}
