#if S3
import CloudKitBasics

/// A time as S3 writes it.
package enum S3Date {
    /// Returns the text in signatures, such as `20260131T120000Z`.
    package static func text(_ milliseconds: Int64) -> String {
        let (seconds, _) = milliseconds.floorDivided(by: 1000)
        let (days, second) = seconds.floorDivided(by: 86_400)
        let day = CalendarDay(since1970: days)
        func padded(_ number: Int64, _ count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }
        return padded(day.year, 4) + padded(day.month, 2) + padded(day.day, 2) + "T"
            + padded(second / 3600, 2) + padded(second / 60 % 60, 2) + padded(second % 60, 2) + "Z"
    }

    /// Returns the milliseconds since 1970-01-01 UTC of a date of a list, such as
    /// `2026-01-31T12:00:00.000Z`; nil for other texts.
    package static func milliseconds(iso text: String) -> Int64? {
        let parts = text.split(omittingEmptySubsequences: false) { "-T:.Z".contains($0) }
        guard parts.count >= 7, let year = number(parts[0]), let month = number(parts[1]),
            let day = number(parts[2])
        else { return nil }
        return milliseconds(year, month, day, parts[3...5])
    }

    /// Returns the milliseconds since 1970-01-01 UTC of a date of a header, such as
    /// `Sat, 31 Jan 2026 12:00:00 GMT`; nil for other texts.
    package static func milliseconds(header text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let day = number(parts[1]),
            let month = months.firstIndex(of: String(parts[2])), let year = number(parts[3])
        else { return nil }
        let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        return milliseconds(year, Int64(month) + 1, day, time[...])
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring) -> Int64? {
        guard (1...4).contains(text.utf8.count), text.allSatisfy({ $0.isASCII && $0.isNumber })
        else { return nil }
        return Int64(text)
    }

    private static func milliseconds(
        _ year: Int64,
        _ month: Int64,
        _ day: Int64,
        _ time: ArraySlice<Substring>
    ) -> Int64? {
        let time = time.compactMap(number)
        guard time.count == 3, (1...12).contains(month), (1...31).contains(day), time[0] < 24,
            time[1] < 60, time[2] <= 60
        else { return nil }
        let days = CalendarDay(year: year, month: month, day: day).since1970()
        return ((days * 24 + time[0]) * 60 + time[1]) * 60_000 + time[2] * 1000
    }
}
#endif
