import CloudKitStore
import Foundation
import GRDB

/// The values of columns that receive everything that SQLite can hold, with their comparison: by
/// type and bytes, without the store's own decoding.
enum SimulatedValue {
    /// The columns with these values.
    static let columns: Set<String> = [
        "day", "amount", "data", "since", "due", "flag", "price", "rank", "secret",
    ]

    /// Returns the SQL of a value: dates in eight forms, values of other types than the column's,
    /// infinities, empty blobs, text that no string can hold.
    static func sql(_ number: Int) -> String {
        let date = "2012-09-\(two(1 + number % 28))"
        let time = "\(two(number % 24)):\(two(number / 24 % 60))"
        return switch number % 20 {
        case 0: "'\(date)'"
        case 1: "'\(date) \(time)'"
        case 2: "'\(date) \(time):07'"
        case 3: "'\(date) \(time):07.125'"
        case 4: "'\(date)T\(time):07Z'"
        case 5: "'\(date) \(time):07.123456'"
        case 6: "'\(date)T\(time):07.5+02:00'"
        case 7: "\(1_347_926_400 + number)"
        case 8: "\(number).25"
        case 9: "'word \(number)'"
        case 10: "9e999"
        case 11: "-9e999"
        case 12: "x''"
        case 13: "''"
        case 14: "CAST('blob \(number)' AS BLOB)"
        case 15: "'\(number)' || char(0) || 'nul'"
        case 16: "CAST(x'ff' || '\(number)' AS TEXT)"
        case 17: "'true'"
        case 18: "9007199254740993 + \(number)"
        default: "x'00ff\(two(number % 100))'"
        }
    }

    /// Returns the value of a date column after ``sql(_:)`` was written to it, according to SQLite.
    static func dueDate(_ number: Int) throws -> StoreValue {
        try DatabaseQueue().write { database in
            try database.execute(
                sql: "CREATE TABLE card (due DATE); INSERT INTO card VALUES (\(sql(number)))"
            )
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT CASE typeof(due) WHEN 'text' THEN CAST(due AS BLOB) ELSE due END, typeof(due)
                    FROM card
                    """
            )
            return exact(row?[0] ?? .null, type: row?[1] ?? "")
        }
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Returns a column's value in SQLite: its type, and its bytes.
    static func exact(_ value: DatabaseValue, type: String) -> StoreValue {
        switch value.storage {
        case .null: .null
        case .int64(let number): .text("integer \(number)")
        case .double(let number): .text("real \(number.bitPattern)")
        case .string(let text): .text("\(type) \(text)")
        case .blob(let data): bytes(data, type: type)
        }
    }

    /// Returns the content of a column for its value in the journal.
    static func exact(_ value: StoreValue, of column: String) -> StoreValue {
        switch value {
        // A decimal number is text in the journal, and a number in the column.
        case .text(let text) where column == "price" && text.first?.isNumber == true:
            decimal(text)
        case .integer(let number): .text("integer \(number)")
        case .real(let number): .text("real \(number.bitPattern)")
        case .text(let text): bytes(Data(text.utf8), type: "text")
        case .bytes(let data): bytes(data, type: "blob")
        case .date(let milliseconds): bytes(Data(usual(milliseconds).utf8), type: "text")
        case .written(let plain, let form): written(plain, form)
        default: value
        }
    }

    private static func decimal(_ text: String) -> StoreValue {
        if let number = Int64(text) { return .text("integer \(number)") }
        if let number = Double(text) { return .text("real \(number.bitPattern)") }
        return bytes(Data(text.utf8), type: "text")
    }

    private static func written(_ plain: StoreValue, _ form: String) -> StoreValue {
        let rest = String(form.dropFirst())
        switch form.first {
        case "i": return .text("integer \(rest)")
        case "r": return .text("real \((Double(rest) ?? 0).bitPattern)")
        case "t": return bytes(Data(rest.utf8), type: "text")
        case "n": return bytes(Data(base64Encoded: rest) ?? Data(), type: "text")
        case "b": return bytes(Data(base64Encoded: rest) ?? Data(), type: "blob")
        default: break
        }
        let type = form == "T" ? "text" : "blob"
        return switch plain {
        case .text(let text): bytes(Data(text.utf8), type: type)
        case .bytes(let data): bytes(data, type: type)
        default: .text("unknown form \(form)")
        }
    }

    private static func bytes(_ data: Data, type: String) -> StoreValue {
        let digits = Array("0123456789abcdef".utf8)
        var text = Array("\(type) ".utf8)
        for byte in data {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return .text(String(decoding: text, as: UTF8.self))
    }

    /// Returns a date as GRDB writes it.
    private static func usual(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            .replacing("T", with: " ").replacing("Z", with: "")
    }
}
