/// A day of a calendar, with years that continue backwards beyond the first.
///
/// Foundation's dates before 1582-10-15 are those of the Julian calendar; ISO 8601 extends the Gregorian
/// calendar to all years.
package struct CalendarDay: Equatable, Sendable {
    /// The rule of a calendar: the cycle after which its leap years repeat.
    package struct Calendar: Sendable {
        /// The years of a cycle.
        @usableFromInline let years: Int64
        /// The days of a cycle.
        @usableFromInline let days: Int64
        /// The first of March of the year 0, as the days since 1970-01-01.
        @usableFromInline let start: Int64

        @inlinable package static var gregorian: Calendar { Calendar(400, 146_097, -719_468) }
        @inlinable package static var julian: Calendar { Calendar(4, 1461, -719_470) }

        @usableFromInline
        init(_ years: Int64, _ days: Int64, _ start: Int64) {
            self.years = years
            self.days = days
            self.start = start
        }
    }

    package let year: Int64
    /// The month, from 1.
    package let month: Int64
    /// The day of the month, from 1.
    package let day: Int64

    @inlinable
    package init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates a day from the number of days since 1970-01-01.
    @inlinable
    package init(since1970 days: Int64, in calendar: Calendar = .gregorian) {
        let (cycle, rest) = (days - calendar.start).floorDivided(by: calendar.days)
        // The years begin in March, so that the leap day is their last. The cycle of the Julian calendar has
        // too few days for the exceptions of the Gregorian one.
        let yearOfCycle = (rest - rest / 1460 + rest / 36_524 - rest / 146_096) / 365
        let dayOfYear = rest - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let part = (5 * dayOfYear + 2) / 153
        month = part < 10 ? part + 3 : part - 9
        day = dayOfYear - (153 * part + 2) / 5 + 1
        year = cycle * calendar.years + yearOfCycle + (month <= 2 ? 1 : 0)
    }

    /// Returns the number of days since 1970-01-01.
    ///
    /// A day beyond its month is one of the next months.
    @inlinable
    package func since1970(in calendar: Calendar = .gregorian) -> Int64 {
        let (cycle, yearOfCycle) = (month <= 2 ? year - 1 : year).floorDivided(by: calendar.years)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return cycle * calendar.days + yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100
            + dayOfYear + calendar.start
    }
}

extension Int64 {
    /// Returns the quotient rounded down, and a remainder that is not negative.
    @inlinable
    package func floorDivided(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
