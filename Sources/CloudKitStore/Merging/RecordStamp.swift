/// What a record says about its edits: the last version of each device that is in it, and when each
/// field was edited.
///
/// It travels in one string field, `device=version,…;place.time=field,field,…;…`, where `place` is
/// that of a device in the list, and numbers are in base 36. So a device finds its own save again
/// when the answer to it was lost, and times of edits can be compared. Fields that were edited
/// together, as those of a new row, share their time.
struct RecordStamp: Hashable {
    /// The field that holds it.
    static let field = "storeStamp"

    var versions: [String: Int64] = [:]
    var times: [String: EditTime] = [:]

    init() {}

    /// Reads a stamp; what cannot be read is left out, so that it counts as never edited.
    init(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let devices = parts[0].split(separator: UInt8(ascii: ",")).compactMap(Self.pair)
        for (device, version) in devices {
            versions[String(device)] = Int64(Substring(version), radix: 36)
        }
        for part in parts.dropFirst() {
            guard let (key, fields) = Self.pair(part) else { continue }
            let numbers = key.utf8.split(separator: UInt8(ascii: "."))
            guard numbers.count == 2, let place = Int(Substring(numbers[0]), radix: 36),
                devices.indices.contains(place),
                let time = Int64(Substring(numbers[1]), radix: 36)
            else { continue }
            let edit = EditTime(microseconds: time, device: String(devices[place].0))
            for field in fields.split(separator: UInt8(ascii: ",")) {
                times[String(Substring(field))] = edit
            }
        }
    }

    /// The two sides of an equals sign; bytes are split, as they are much quicker than characters.
    private static func pair(
        _ text: Substring.UTF8View
    ) -> (Substring, Substring.UTF8View)? {
        guard let sign = text.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        return (Substring(text[..<sign]), text[text.index(after: sign)...])
    }

    /// The stamp of a record's fields.
    init(fields: [String: StoreValue]) {
        if case .text(let text)? = fields[Self.field] { self.init(text) } else { self.init() }
    }

    /// The stamp as a field's value.
    var text: String {
        let devices = Set(versions.keys).union(times.values.map(\.device)).sorted()
        let list = devices.map { "\($0)=\(String(versions[$0] ?? 0, radix: 36))" }
        let edits = Dictionary(grouping: times, by: \.value).map { edit, fields in
            let place = String(devices.firstIndex(of: edit.device) ?? 0, radix: 36)
            let time = String(edit.microseconds, radix: 36)
            return "\(place).\(time)=\(fields.map(\.key).sorted().joined(separator: ","))"
        }
        return ([list.joined(separator: ",")] + edits.sorted()).joined(separator: ";")
    }
}
