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
        let halves = text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        for part in halves[0].split(separator: ",") {
            let pair = part.split(separator: "=")
            guard pair.count == 2, let version = Int64(pair[1], radix: 36) else { continue }
            versions[String(pair[0])] = version
        }
        guard halves.count == 2 else { return }
        for part in halves[1].split(separator: ",") {
            let pair = part.split(separator: "=")
            let names = pair[0].split(separator: "@")
            guard pair.count == 2, names.count == 2, let time = Int64(pair[1], radix: 36) else {
                continue
            }
            times[String(names[0])] = EditTime(microseconds: time, device: String(names[1]))
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
