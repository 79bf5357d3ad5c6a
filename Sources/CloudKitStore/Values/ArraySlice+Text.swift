/// Parts of a text as bytes.
extension ArraySlice<UInt8> {
    /// The bytes as text.
    var text: String { String(decoding: self, as: UTF8.self) }

    /// The two sides of the first such byte; nil where there is none.
    func pair(at separator: UInt8) -> (ArraySlice, ArraySlice)? {
        guard let place = firstIndex(of: separator) else { return nil }
        return (self[..<place], self[(place + 1)...])
    }
}
