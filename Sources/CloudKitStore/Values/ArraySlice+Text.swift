/// Parts of a text as bytes.
extension ArraySlice<UInt8> {
    /// The bytes as text.
    var text: String { String(decoding: self, as: UTF8.self) }

    /// The two sides of the first such byte; nil where there is none.
    func pair(at separator: UInt8) -> (ArraySlice, ArraySlice)? {
        guard let place = firstIndex(of: separator) else { return nil }
        return (self[..<place], self[(place + 1)...])
    }

    /// Takes away what is before the first such byte, and the byte; all of it where there is none.
    mutating func removePart(before separator: UInt8) -> ArraySlice {
        let place = firstIndex(of: separator) ?? endIndex
        defer { self = self[place...].dropFirst() }
        return self[..<place]
    }
}
