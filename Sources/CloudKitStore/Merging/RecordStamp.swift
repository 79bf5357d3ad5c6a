/// What a record says about its edits: the last version of each device that is in it, and when each
/// field was edited.
///
/// It travels in one string field, `device=version,…;field@device=time,…`, with numbers in base 36,
/// so that a device finds its own save again when the answer to it was lost, and so that times of
/// edits can be compared.
struct RecordStamp: Hashable {
    /// The field that holds it.
    static let field = "storeStamp"

    var versions: [String: Int64] = [:]
    var times: [String: EditTime] = [:]

    init() {}

    /// Reads a stamp; what cannot be read is left out, so that it counts as never edited.
    init(_ text: String) {
        let halves = text.utf8.split(
            separator: UInt8(ascii: ";"),
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        for (key, version) in Self.pairs(halves[0]) { versions[String(key)] = version }
        guard halves.count == 2 else { return }
        for (key, time) in Self.pairs(halves[1]) {
            let names = key.utf8.split(separator: UInt8(ascii: "@"))
            guard names.count == 2 else { continue }
            times[String(Substring(names[0]))] = EditTime(
                microseconds: time,
                device: String(Substring(names[1]))
            )
        }
    }

    /// The names and numbers of a half; bytes are split, as they are much quicker than characters.
    private static func pairs(_ half: Substring.UTF8View) -> [(Substring, Int64)] {
        half.split(separator: UInt8(ascii: ",")).compactMap { part in
            let pair = part.split(separator: UInt8(ascii: "="))
            guard pair.count == 2, let number = Int64(Substring(pair[1]), radix: 36) else {
                return nil
            }
            return (Substring(pair[0]), number)
        }
    }

    /// The stamp of a record's fields.
    init(fields: [String: StoreValue]) {
        if case .text(let text)? = fields[Self.field] { self.init(text) } else { self.init() }
    }

    /// The stamp as a field's value.
    var text: String {
        let versions = versions.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(String($0.value, radix: 36))" }
        let times = times.sorted { $0.key < $1.key }
            .map { "\($0.key)@\($0.value.device)=\(String($0.value.microseconds, radix: 36))" }
        return versions.joined(separator: ",") + ";" + times.joined(separator: ",")
    }
}
