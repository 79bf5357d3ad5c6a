import Foundation

extension ValueText {
    /// Returns the milliseconds of a date in ISO 8601 with time and zone, or of milliseconds since
    /// 1970; nil for anything else.
    ///
    /// Finer parts than a millisecond are truncated, as everywhere.
    static func milliseconds(_ text: String) -> Int64? {
        if let milliseconds = Int64(text) { return milliseconds }
        let form =
            /([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?(Z|[+-][0-9]{2}:?[0-9]{2})/
        guard let parts = text.wholeMatch(of: form) else { return nil }
        let moment = parts.1 + "Z"
        let style = Date.ISO8601FormatStyle()
        // The style reads February 30 as March 2.
        guard let date = try? style.parse(String(moment)), date.formatted(style) == moment,
            let seconds = Int64(exactly: date.timeIntervalSince1970), let offset = offset(parts.3)
        else { return nil }
        let digits = (parts.2 ?? "").prefix(3)
        let fraction = Int64(digits + String(repeating: "0", count: 3 - digits.count)) ?? 0
        return (seconds - offset) * 1000 + fraction
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
