/// The encoding of a ``RecordStamp`` in the control tables, a third of its text: devices and fields
/// are word numbers, and times are relative to the versions.
///
/// A text that is not exactly as a stamp writes it has no such encoding.
enum StampCoding {
    /// Returns the bytes of a stamp's text; nil for a text that they would not reproduce.
    static func bytes(_ text: String, _ name: (String) -> Int?) -> [UInt8]? {
        var bytes: [UInt8] = []
        let parts = Array(text.utf8)[...]
            .split(separator: semicolon, omittingEmptySubsequences: false)
        guard let devices = parts.first else { return nil }
        var numbers: [Int64] = []
        let versions = devices.split(separator: comma, omittingEmptySubsequences: false)
        FieldCoding.append(UInt64(versions.count), to: &bytes)
        for version in versions {
            guard let (device, digits) = version.pair(at: UInt8(ascii: "=")),
                let word = name(device.text), let number = number(digits)
            else { return nil }
            FieldCoding.append(UInt64(word), to: &bytes)
            FieldCoding.append(number &- (numbers.first ?? 0), to: &bytes)
            numbers.append(number)
        }
        for edit in parts.dropFirst() {
            guard let (key, list) = edit.pair(at: UInt8(ascii: "=")),
                let (place, time) = key.pair(at: UInt8(ascii: ".")),
                let place = number(place), numbers.indices.contains(Int(clamping: place)),
                let time = number(time)
            else { return nil }
            FieldCoding.append(UInt64(place), to: &bytes)
            FieldCoding.append(numbers[Int(place)] &- time, to: &bytes)
            let fields = list.split(separator: comma, omittingEmptySubsequences: false)
            FieldCoding.append(UInt64(fields.count), to: &bytes)
            for field in fields {
                guard let word = name(field.text) else { return nil }
                FieldCoding.append(UInt64(word), to: &bytes)
            }
        }
        return bytes
    }

    /// Returns the text of encoded bytes.
    static func text(
        _ reader: inout FieldCoding.Reader,
        _ words: Words
    ) throws -> String {
        var text = ""
        var numbers: [Int64] = []
        for _ in 0..<(try reader.count()) {
            if !text.isEmpty { text += "," }
            text += try word(&reader, words)
            let number = try reader.signed() &+ (numbers.first ?? 0)
            numbers.append(number)
            text += "=" + String(number, radix: 36)
        }
        while !reader.isAtEnd {
            let place = Int(clamping: try reader.unsigned())
            guard numbers.indices.contains(place) else { throw FieldCoding.Unreadable() }
            let time = numbers[place] &- (try reader.signed())
            text += ";" + String(place, radix: 36) + "." + String(time, radix: 36) + "="
            for index in 0..<(try reader.count()) {
                if index > 0 { text += "," }
                text += try word(&reader, words)
            }
        }
        return text
    }

    private static let comma = UInt8(ascii: ",")
    private static let semicolon = UInt8(ascii: ";")

    private static func word(
        _ reader: inout FieldCoding.Reader,
        _ words: Words
    ) throws -> String {
        guard let text = words.text(of: Int(clamping: try reader.unsigned())) else {
            throw FieldCoding.Unreadable()
        }
        return text
    }

    /// Returns a number that is written as a stamp writes it.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard let first = digits.first, digits.count <= 12,
            first != UInt8(ascii: "0") || digits.count == 1
        else { return nil }
        var number: Int64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                number = number * 36 + Int64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "z"):
                number = number * 36 + Int64(digit - UInt8(ascii: "a")) + 10
            default: return nil
            }
        }
        return number
    }
}
