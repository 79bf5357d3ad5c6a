import CloudKitBasics
import Testing

@Suite("Days of the Gregorian and the Julian calendar")
struct CalendarDayTests {
    @Test("A day has the same number in both directions, and its successor follows it")
    func roundTrip() {
        for calendar in [CalendarDay.Calendar.gregorian, .julian] {
            var last = CalendarDay(since1970: -800_001, in: calendar)
            for number in Int64(-800_000)...800_000 {
                let day = CalendarDay(since1970: number, in: calendar)
                guard day.since1970(in: calendar) == number,
                    day.day == last.day + 1
                        || day.day == 1
                            && (day.month == last.month + 1
                                || day.month == 1 && day.year == last.year + 1)
                else {
                    Issue.record("\(number): \(last), \(day)")
                    return
                }
                last = day
            }
        }
    }

    @Test(
        "Known days",
        arguments: [
            (0, (1970, 1, 1), (1969, 12, 19)), (-141_427, (1582, 10, 15), (1582, 10, 5)),
            (-141_428, (1582, 10, 14), (1582, 10, 4)), (-719_162, (1, 1, 1), (1, 1, 3)),
            (-719_164, (0, 12, 30), (1, 1, 1)), (11_016, (2000, 2, 29), (2000, 2, 16)),
        ] as [(Int64, (Int64, Int64, Int64), (Int64, Int64, Int64))]
    )
    func known(
        number: Int64,
        gregorian: (Int64, Int64, Int64),
        julian: (Int64, Int64, Int64)
    ) {
        let pairs = [(CalendarDay.Calendar.gregorian, gregorian), (.julian, julian)]
        for (calendar, (year, month, day)) in pairs {
            let expected = CalendarDay(year: year, month: month, day: day)
            #expect(CalendarDay(since1970: number, in: calendar) == expected)
        }
    }

    @Test("A day that its month does not have is another day")
    func beyondMonth() {
        for (month, day) in [(2, 29), (4, 31), (1, 0)] as [(Int64, Int64)] {
            let wrong = CalendarDay(year: 1900, month: month, day: day)
            #expect(CalendarDay(since1970: wrong.since1970()) != wrong)
        }
    }
}
