#if PostgreSQL
/// Text that equals another only if its bytes do, as in the tables.
///
/// A `String` equals every other one that looks the same, such as é in one character or in two.
struct ByteText: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (first: Self, second: Self) -> Bool {
        first.text.utf8.elementsEqual(second.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
#endif
