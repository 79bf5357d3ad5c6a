/// The edit history in a record: the latest version of each device that it includes, and the time
/// at which each field was edited.
///
/// It travels in one string field, `device=version,…;place.time=field,field,…;…`, where `place` is
/// the device's position in the list, and numbers are in base 36. A device thereby recognizes its
/// own save after a lost response, and edit times can be compared. Fields that were edited
/// together, such as those of a new row, share their time.
///
/// The type has the same shape, because every sent record is read, changed and written.
package struct RecordStamp: Hashable {
    /// The name of the field that holds the stamp.
    static let field = "storeStamp"

    private struct Version: Hashable {
        var device: String
        var number: Int64
    }

    private struct Edit: Hashable {
        var time: EditTime
        var fields: [String]
    }

    private var versions: [Version] = []
    private var edits: [Edit] = []

    package init() {}

    /// Creates a stamp from its text; unreadable parts are left out and count as never edited.
    package init(_ text: String) {
        var rest = Array(text.utf8)[...]
        var devices = rest.removePart(before: UInt8(ascii: ";"))
        while !devices.isEmpty {
            let device = devices.removePart(before: UInt8(ascii: ","))
            guard let (name, number) = device.pair(at: UInt8(ascii: "=")) else { continue }
            versions.append(Version(device: name.text, number: Self.number(number) ?? 0))
        }
        while !rest.isEmpty {
            let part = rest.removePart(before: UInt8(ascii: ";"))
            guard var (key, fields) = part.pair(at: UInt8(ascii: "=")),
                let place = Self.number(key.removePart(before: UInt8(ascii: "."))),
                versions.indices.contains(Int(place)), let time = Self.number(key)
            else { continue }
            let device = versions[Int(place)].device
            var edit = Edit(time: EditTime(microseconds: time, device: device), fields: [])
            while !fields.isEmpty {
                edit.fields.append(fields.removePart(before: UInt8(ascii: ",")).text)
            }
            edits.append(edit)
        }
    }

    /// Creates the stamp of a record's fields.
    init(fields: [String: StoreValue]) {
        if case .text(let text)? = fields[Self.field] { self.init(text) } else { self.init() }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        Int64(digits.text, radix: 36)
    }

    // MARK: Reading

    /// Returns the latest version of a device that is in the record; nil when there is none.
    package func version(of device: String) -> Int64? {
        versions.last { $0.device == device }?.number
    }

    /// Returns whether the stamp's record includes every version of another's.
    func contains(versionsOf other: RecordStamp) -> Bool {
        other.versions.allSatisfy { version(of: $0.device) ?? 0 >= $0.number }
    }

    /// Returns whether a device's version is not later than the one in another stamp.
    func hasVersion(notAfter other: RecordStamp) -> Bool {
        versions.contains { $0.number <= other.version(of: $0.device) ?? .min }
    }

    /// `true` when no device has saved the record.
    var isEmpty: Bool { versions.isEmpty }

    /// The devices and fields in the stamp.
    var words: [String] { versions.map(\.device) + edits.flatMap(\.fields) }

    /// The times at which the fields were edited.
    package var times: [String: EditTime] {
        var times: [String: EditTime] = [:]
        for edit in edits {
            for field in edit.fields { times[field] = edit.time }
        }
        return times
    }

    /// The stamp as a field's value.
    package var text: String {
        var text = ""
        for version in versions {
            if !text.isEmpty { text += "," }
            text += version.device
            text += "="
            text += String(version.number, radix: 36)
        }
        for edit in edits {
            let place = versions.firstIndex { $0.device == edit.time.device } ?? 0
            text += ";"
            text += String(place, radix: 36)
            text += "."
            text += String(edit.time.microseconds, radix: 36)
            text += "="
            text += edit.fields.joined(separator: ",")
        }
        return text
    }

    // MARK: Writing

    /// Adds a version that a device saves.
    package mutating func save(_ number: Int64, by device: String) {
        if let place = versions.lastIndex(where: { $0.device == device }) {
            versions[place].number = number
        } else {
            // Sorted, so that the text does not depend on the order of the saves.
            let place = versions.firstIndex { $0.device > device } ?? versions.endIndex
            versions.insert(Version(device: device, number: number), at: place)
        }
    }

    /// Adds an edit of a field by a device whose version is in the stamp.
    ///
    /// An edit of a version is later than the version, whatever the clocks report.
    package mutating func edit(_ field: String, at time: EditTime) {
        var time = time
        for place in edits.indices.reversed() {
            guard let index = edits[place].fields.firstIndex(of: field) else { continue }
            time.microseconds = max(time.microseconds, edits[place].time.microseconds &+ 1)
            edits[place].fields.remove(at: index)
            if edits[place].fields.isEmpty { edits.remove(at: place) }
        }
        if let place = edits.firstIndex(where: { $0.time == time }) {
            let fields = edits[place].fields
            edits[place].fields.insert(
                field,
                at: fields.firstIndex { $0 > field } ?? fields.endIndex
            )
        } else {
            let place = edits.firstIndex { $0.time > time } ?? edits.endIndex
            edits.insert(Edit(time: time, fields: [field]), at: place)
        }
    }
}
