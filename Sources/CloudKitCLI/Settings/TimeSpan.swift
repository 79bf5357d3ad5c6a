import ArgumentParser

/// A time span as people write it, such as `90`, `90s`, `15m`, `1h` or `30d`.
struct TimeSpan: ExpressibleByArgument {
    /// The seconds; the greatest number for more of them.
    let seconds: Int64

    private static let units: [Substring: Int64] = [
        "": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400,
    ]

    /// Creates a time span from text; nil for text that is not a number with an optional unit.
    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, let unit = Self.units[argument.dropFirst(digits.count)] else {
            return nil
        }
        let (seconds, isTooMuch) = (Int64(digits) ?? .max).multipliedReportingOverflow(by: unit)
        self.seconds = isTooMuch ? .max : seconds
    }
}
