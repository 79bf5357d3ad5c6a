/// A day of the Gregorian calendar, which ISO 8601 extends to all years.
///
/// Foundation's dates before 1582-10-15 are those of the Julian calendar, two to ten days off.
struct CalendarDay: Equatable {
    let year, month, day: Int64

    /// The days from 0000-03-01 to 1970-01-01.
    private static let epoch: Int64 = 719_468
    /// The days of 400 years.
    private static let era: Int64 = 146_097

    /// Creates a day; nil for one that the calendar does not have.
    init?(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
        guard (1...12).contains(month), day >= 1, Self(since1970: since1970) == self else {
            return nil
        }
    }

    /// Creates a day from the number of days since 1970-01-01.
    init(since1970 days: Int64) {
        let (era, dayOfEra) = Self.divide(days + Self.epoch, by: Self.era)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // The years begin in March, so that the leap day is their last.
        let shifted = (5 * dayOfYear + 2) / 153
        month = shifted < 10 ? shifted + 3 : shifted - 9
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// The number of days since 1970-01-01.
    var since1970: Int64 {
        let (era, yearOfEra) = Self.divide(month <= 2 ? year - 1 : year, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * Self.era + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - Self.epoch
    }

    /// Returns quotient and remainder, rounded down.
    static func divide(_ number: Int64, by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
