import CloudKitBasics
import Foundation
import GRDB

extension CoreDataValue {
    /// The value in its column of a converted database.
    ///
    /// - Returns: Nil for a date that GRDB could not read back.
    var columnValue: DatabaseValue? {
        switch self {
        case .integer(let number): number.databaseValue
        case .double(let number): number.databaseValue
        case .decimal(let number): "\(number)".databaseValue
        case .string(let text), .uri(let text): text.databaseValue
        case .boolean(let flag): flag.databaseValue
        case .date(let date): DateText.text(date)?.databaseValue
        case .bytes(let data): data.databaseValue
        case .uuid(let uuid): uuid.uuidString.databaseValue
        }
    }

    /// The value as an SQL literal; nil for one that SQL cannot represent.
    var literal: String? {
        switch columnValue?.storage {
        case nil, .null: nil
        case .int64(let number): "\(number)"
        case .double(let number): number.isFinite ? "\(number)" : nil
        case .string(let text): text.utf8.contains(0) ? nil : text.literal
        case .blob(let data):
            "x'" + data.map { String(UInt16($0) + 0x100, radix: 16).suffix(2) }.joined() + "'"
        }
    }

    /// Returns whether the value belongs to a type.
    func isOf(_ type: CoreDataModel.AttributeType) -> Bool {
        switch (self, type) {
        case (.integer, .integer16), (.integer, .integer32), (.integer, .integer64),
            (.double, .double), (.double, .float), (.decimal, .decimal), (.string, .string),
            (.boolean, .boolean), (.date, .date), (.bytes, .binary), (.bytes, .transformable),
            (.uuid, .uuid), (.uri, .uri):
            true
        default: false
        }
    }
}

/// Dates as GRDB writes them: `2026-11-24 18:31:30.000`, in UTC.
enum DateText {
    private static let millisecondsOfDay: Int64 = 86_400_000
    /// The days from 1583, since when both historical calendars agree, to 10000, counted from 1970.
    private static let plainDays: Range<Int64> = -141_349..<2_932_897

    /// Returns the text of a date; nil for a year that the format cannot represent.
    static func text(_ date: Date) -> String? {
        let milliseconds = ((date.timeIntervalSince1970) * 1000 + 0.5).rounded(.down)
        guard milliseconds.magnitude < 0x1p60 else { return nil }
        let whole = Int64(milliseconds)
        let (days, time) = whole.floorDivided(by: millisecondsOfDay)
        guard plainDays.contains(days) else {
            // GRDB's formatter handles dates before the Gregorian calendar.
            guard days < plainDays.lowerBound, days >= -719_164,
                case .string(let text) = date.databaseValue.storage
            else { return nil }
            return text
        }
        let day = CalendarDay(since1970: days)
        let (seconds, fraction) = (time / 1000, time % 1000)
        var text: [UInt8] = []
        text.reserveCapacity(23)
        append(day.year, 4, "-", to: &text)
        append(day.month, 2, "-", to: &text)
        append(day.day, 2, " ", to: &text)
        append(seconds / 3600, 2, ":", to: &text)
        append(seconds / 60 % 60, 2, ":", to: &text)
        append(seconds % 60, 2, ".", to: &text)
        append(fraction, 3, nil, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(
        _ number: Int64,
        _ digits: Int,
        _ mark: Character?,
        to text: inout [UInt8]
    ) {
        var divisor: Int64 = digits == 4 ? 1000 : digits == 3 ? 100 : 10
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
        if let mark = mark?.asciiValue { text.append(mark) }
    }
}
