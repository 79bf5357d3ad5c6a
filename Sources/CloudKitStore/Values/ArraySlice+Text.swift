/// Parts of a text in its bytes.
extension ArraySlice<UInt8> {
    /// The bytes as text.
    var text: String { String(decoding: self, as: UTF8.self) }

    /// Returns the parts before and after the first occurrence of a byte; nil when there is none.
    func pair(at separator: UInt8) -> (ArraySlice, ArraySlice)? {
        guard let place = firstIndex(of: separator) else { return nil }
        return (self[..<place], self[(place + 1)...])
    }

    /// Removes and returns the part before the first occurrence of a byte, and removes the byte;
    /// everything when there is none.
    mutating func removePart(before separator: UInt8) -> ArraySlice {
        let place = firstIndex(of: separator) ?? endIndex
        defer { self = self[place...].dropFirst() }
        return self[..<place]
    }
}
