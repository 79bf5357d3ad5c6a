import CloudKitBasics
import Foundation

/// Dates and identifiers as GRDB writes them into columns.
enum DatabaseForms {
    /// Returns milliseconds since 1970 of `YYYY-MM-DD HH:MM:SS.SSS` in UTC; shorter forms omit the end.
    ///
    /// Also reads the `T`, `Z` and `+HH:MM` of ISO 8601, and any number of fractional digits, of
    /// which the first three count. Returns nil for other texts.
    static func milliseconds(_ text: String) -> Int64? {
        var reader = DateReader(Array(text.utf8))
        guard let year = reader.year(), reader.mark("-"), let month = reader.number(2),
            reader.mark("-"), let day = reader.number(2), (1...12).contains(month),
            (1...31).contains(day)
        else { return nil }
        let milliseconds = days(year, month, day) * 86_400_000
        if reader.isAtEnd { return milliseconds }
        guard reader.mark(" T"), let hour = reader.number(2), reader.mark(":"),
            let minute = reader.number(2), hour < 24, minute < 60
        else { return nil }
        var time = (hour * 60 + minute) * 60_000
        if reader.mark(":") {
            guard let second = reader.number(2), second < 60 else { return nil }
            time += second * 1000
            if reader.mark(".") {
                guard let part = reader.thousandths() else { return nil }
                time += part
            }
        }
        guard let offset = reader.offset(), reader.isAtEnd else { return nil }
        return milliseconds + time - offset
    }

    /// A parser of a date's text.
    private struct DateReader {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: [UInt8]) { rest = bytes[...] }

        var isAtEnd: Bool { rest.isEmpty }

        private static func digit(_ byte: UInt8) -> Int64? {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                ? Int64(byte - UInt8(ascii: "0")) : nil
        }

        mutating func number(_ count: Int) -> Int64? {
            guard rest.count >= count else { return nil }
            var number: Int64 = 0
            for byte in rest.prefix(count) {
                guard let digit = Self.digit(byte) else { return nil }
                number = number * 10 + digit
            }
            rest = rest.dropFirst(count)
            return number
        }

        /// Reads four digits, or the form that the writer below gives to other years.
        mutating func year() -> Int64? {
            let isNegative = mark("-")
            let count = rest.prefix { Self.digit($0) != nil }.count
            guard count == 4 || (1...7).contains(count), let year = number(count) else {
                return nil
            }
            if isNegative { return year == 0 ? nil : -year }
            return count == 4 || year > 9999 ? year : nil
        }

        mutating func mark(_ marks: String) -> Bool {
            guard let byte = rest.first, marks.utf8.contains(byte) else { return false }
            rest.removeFirst()
            return true
        }

        /// Reads the first three digits of a fractional second; nil when there is none.
        mutating func thousandths() -> Int64? {
            let digits = rest.prefix { Self.digit($0) != nil }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
            let first = digits.prefix(3).reduce(0) { $0 * 10 + (Self.digit($1) ?? 0) }
            return first * [0, 100, 10, 1][min(digits.count, 3)]
        }

        /// Reads the offset from UTC in milliseconds: 0 when there is none, nil when it is invalid.
        mutating func offset() -> Int64? {
            if isAtEnd || mark("Z") { return 0 }
            let sign: Int64 = mark("+") ? 1 : mark("-") ? -1 : 0
            guard sign != 0, let hours = number(2), mark(":"), let minutes = number(2),
                hours < 24, minutes < 60
            else { return nil }
            return sign * (hours * 60 + minutes) * 60_000
        }
    }

    /// Returns milliseconds since 1970 as `YYYY-MM-DD HH:MM:SS.SSS` in UTC.
    static func text(milliseconds: Int64) -> String {
        let (days, rest) = milliseconds.floorDivided(by: 86_400_000)
        let day = CalendarDay(since1970: days, in: days < firstGregorianDay ? .julian : .gregorian)
        // Digits are written from the last to the first.
        var text = Array("0000-00-00 00:00:00.000".utf8)
        func write(_ number: Int64, before end: Int, _ count: Int) {
            var rest = number
            for place in stride(from: end - 1, through: end - count, by: -1) {
                text[place] += UInt8(rest % 10)
                rest /= 10
            }
        }
        let isPlain = (0...9999).contains(day.year)
        if isPlain { write(day.year, before: 4, 4) }
        write(day.month, before: 7, 2)
        write(day.day, before: 10, 2)
        write(rest / 3_600_000, before: 13, 2)
        write(rest / 60_000 % 60, before: 16, 2)
        write(rest / 1000 % 60, before: 19, 2)
        write(rest % 1000, before: 23, 3)
        return isPlain
            ? String(decoding: text, as: UTF8.self)
            : String(day.year) + String(decoding: text[4...], as: UTF8.self)
    }

    /// Returns the usual notation of 16 bytes.
    static func uuidText(_ data: Data) -> String? {
        guard data.count == 16 else { return nil }
        let digits = Array(Hexadecimal.text(data, uppercase: true))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
            .joined(separator: "-")
    }

    /// Returns the bytes of the usual notation.
    static func uuidBytes(_ text: String) -> Data? {
        guard text.utf8.count == 36 else { return nil }
        return Hexadecimal.bytes(text.replacing("-", with: "")).map { Data($0) }
    }

    // MARK: The calendar

    /// The first day of the Gregorian calendar, 1582-10-15, counted from 1970.
    ///
    /// Earlier days have Julian dates, because GRDB writes and reads dates with Foundation's calendar, which does so.
    private static let firstGregorianDay: Int64 = -141_427

    /// Returns the days from 1970 to a date.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let day = CalendarDay(year: year, month: month, day: day)
        let gregorian = day.since1970()
        // As Foundation reads the ten dates that neither calendar has, too.
        return gregorian < firstGregorianDay ? day.since1970(in: .julian) : gregorian
    }
}
