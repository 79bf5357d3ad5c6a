import Foundation

/// Dates and identifiers as GRDB writes them into columns.
enum DatabaseForms {
    /// Milliseconds since 1970 of `YYYY-MM-DD HH:MM:SS.SSS` in UTC; shorter forms leave out the end.
    ///
    /// Also reads the `T` and `Z` of ISO 8601. Anything else is nil.
    static func milliseconds(_ text: String) -> Int64? {
        var digits = Array(text.utf8)
        if digits.last == UInt8(ascii: "Z") { digits.removeLast() }
        func number(_ start: Int, _ count: Int) -> Int64? {
            guard start + count <= digits.count else { return nil }
            var number: Int64 = 0
            for digit in digits[start..<start + count] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                number = number * 10 + Int64(digit - UInt8(ascii: "0"))
            }
            return number
        }
        func isMark(_ place: Int, _ marks: String) -> Bool {
            place < digits.count && marks.utf8.contains(digits[place])
        }
        guard let year = number(0, 4), isMark(4, "-"), let month = number(5, 2), isMark(7, "-"),
            let day = number(8, 2), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var milliseconds = days(year, month, day) * 86_400_000
        if digits.count == 10 { return milliseconds }
        guard isMark(10, " T"), let hour = number(11, 2), isMark(13, ":"),
            let minute = number(14, 2), hour < 24, minute < 60
        else { return nil }
        milliseconds += (hour * 60 + minute) * 60_000
        if digits.count == 16 { return milliseconds }
        guard isMark(16, ":"), let second = number(17, 2), second < 60 else { return nil }
        milliseconds += second * 1000
        if digits.count == 19 { return milliseconds }
        guard isMark(19, "."), digits.count <= 23, let part = number(20, digits.count - 20) else {
            return nil
        }
        return milliseconds + part * [100, 10, 1][digits.count - 21]
    }

    /// Milliseconds since 1970 as `YYYY-MM-DD HH:MM:SS.SSS` in UTC.
    static func text(milliseconds: Int64) -> String {
        var days = milliseconds / 86_400_000
        var rest = milliseconds % 86_400_000
        if rest < 0 {
            rest += 86_400_000
            days -= 1
        }
        let (year, month, day) = date(days)
        // Digits are written from the last to the first.
        var text = Array("0000-00-00 00:00:00.000".utf8)
        func write(_ number: Int64, before end: Int, _ count: Int) {
            var rest = number
            for place in stride(from: end - 1, through: end - count, by: -1) {
                text[place] += UInt8(rest % 10)
                rest /= 10
            }
        }
        let isPlain = (0...9999).contains(year)
        if isPlain { write(year, before: 4, 4) }
        write(month, before: 7, 2)
        write(day, before: 10, 2)
        write(rest / 3_600_000, before: 13, 2)
        write(rest / 60_000 % 60, before: 16, 2)
        write(rest / 1000 % 60, before: 19, 2)
        write(rest % 1000, before: 23, 3)
        return isPlain
            ? String(decoding: text, as: UTF8.self)
            : String(year) + String(decoding: text[4...], as: UTF8.self)
    }

    /// The usual notation of 16 bytes.
    static func uuidText(_ data: Data) -> String? {
        guard data.count == 16 else { return nil }
        let digits = Array(Hexadecimal.text(data))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
            .joined(separator: "-")
    }

    /// The bytes of the usual notation.
    static func uuidBytes(_ text: String) -> Data? {
        guard text.utf8.count == 36 else { return nil }
        return Hexadecimal.data(text.replacing("-", with: ""))
    }

    // MARK: The calendar

    /// Days from 1970 to a date of the Gregorian calendar, counted in years that begin in March.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }

    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * part + 2) / 5 + 1
        )
    }
}
