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
        // An array of bytes is split much quicker than a string.
        let parts = Array(text.utf8)
            .split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let devices = parts[0].split(separator: UInt8(ascii: ","))
            .compactMap { $0.pair(at: UInt8(ascii: "=")) }
            .map { (name: $0.text, version: $1.text) }
        times.reserveCapacity(text.utf8.count { $0 == UInt8(ascii: ",") } + parts.count)
        for (name, version) in devices { versions[name] = Int64(version, radix: 36) }
        for part in parts.dropFirst() {
            guard let (key, fields) = part.pair(at: UInt8(ascii: "=")),
                let (place, time) = key.pair(at: UInt8(ascii: ".")),
                let place = Int(place.text, radix: 36), devices.indices.contains(place),
                let time = Int64(time.text, radix: 36)
            else { continue }
            let edit = EditTime(microseconds: time, device: devices[place].name)
            for field in fields.split(separator: UInt8(ascii: ",")) { times[field.text] = edit }
        }
    }

    /// The stamp of a record's fields.
    init(fields: [String: StoreValue]) {
        if case .text(let text)? = fields[Self.field] { self.init(text) } else { self.init() }
    }

    /// The stamp as a field's value.
    var text: String {
        var devices = Array(versions.keys)
        for time in times.values where !devices.contains(time.device) {
            devices.append(time.device)
        }
        devices.sort()
        var text = ""
        for device in devices {
            if !text.isEmpty { text += "," }
            text += device
            text += "="
            text += String(versions[device] ?? 0, radix: 36)
        }
        let edits = times.map { field, time in
            (devices.firstIndex(of: time.device) ?? 0, time.microseconds, field)
        }
        var last: (place: Int, time: Int64)?
        for (place, time, field) in edits.sorted(by: <) {
            if let last, last == (place, time) {
                text += ","
            } else {
                text += ";\(String(place, radix: 36)).\(String(time, radix: 36))="
                last = (place, time)
            }
            text += field
        }
        return text
    }
}
