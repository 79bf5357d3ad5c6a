/// The change tag of a record: the number of its newest change, in base 36.
enum ChangeTag {
    static func text(_ sequence: Int64) -> String { String(sequence, radix: 36) }
}
