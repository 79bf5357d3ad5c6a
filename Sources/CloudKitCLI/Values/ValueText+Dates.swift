import CloudKitBasics

extension ValueText {
    /// Returns the milliseconds of a date in ISO 8601 with time and zone, or of milliseconds since
    /// 1970; nil for anything else.
    ///
    /// Finer parts than a millisecond are truncated, as everywhere.
    static func milliseconds(_ text: String) -> Int64? {
        if let milliseconds = Int64(text) { return milliseconds }
        let form =
            /([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(Z|[+-][0-9]{2}:?[0-9]{2})/
        guard let parts = text.wholeMatch(of: form), let year = Int64(parts.1),
            let month = Int64(parts.2), let day = Int64(parts.3), let hour = Int64(parts.4),
            let minute = Int64(parts.5), let second = Int64(parts.6),
            hour < 24, minute < 60, second < 60, let offset = offset(parts.8)
        else { return nil }
        let date = CalendarDay(year: year, month: month, day: day)
        let days = date.since1970()
        // No calendar has the 30th of February, nor a 13th month.
        guard CalendarDay(since1970: days) == date else { return nil }
        let digits = (parts.7 ?? "").prefix(3)
        let fraction = Int64(digits + String(repeating: "0", count: 3 - digits.count)) ?? 0
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        return (seconds - offset) * 1000 + fraction
    }

    /// Returns a date in UTC, with milliseconds if it has any.
    package static func date(_ milliseconds: Int64) -> String {
        let (seconds, fraction) = milliseconds.floorDivided(by: 1000)
        let (days, second) = seconds.floorDivided(by: 86_400)
        let date = CalendarDay(since1970: days)
        let time = [second / 3600, second / 60 % 60, second % 60].map { digits($0, 2) }
        return "\(date.year < 0 ? "-" : "")\(digits(abs(date.year), 4))-"
            + "\(digits(date.month, 2))-\(digits(date.day, 2))T\(time.joined(separator: ":"))"
            + (fraction == 0 ? "Z" : ".\(digits(fraction, 3))Z")
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    /// Returns the seconds of `Z`, `+02:00` or `-0330`; nil for invalid hours or minutes.
    private static func offset(_ text: Substring) -> Int64? {
        guard text != "Z" else { return 0 }
        guard let hours = Int64(text.dropFirst().prefix(2)), hours < 24,
            let minutes = Int64(text.suffix(2)), minutes < 60
        else { return nil }
        return (text.hasPrefix("-") ? -1 : 1) * (hours * 3600 + minutes * 60)
    }
}
