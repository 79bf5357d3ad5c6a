import BenchmarkHarness
import CloudKit
import Foundation

/// Writes and reads ten fields whose types the code names.
enum FieldWork {
    private static let due = Date(timeIntervalSince1970: 1_767_225_600)
    private static let bytes = Data(repeating: 7, count: 64)

    /// The work with a record's typed subscript.
    static let record: Work = {
        let record = CKRecord(recordType: "Note")
        return Work("CKRecord") {
            record["title"] = "Buy milk"
            record["body"] = "Two litres, and bread"
            record["color"] = "green"
            record["owner"] = "Ada"
            record["count"] = 42
            record["priority"] = 3
            record["rating"] = 2.5
            record["weight"] = 0.25
            record["due"] = due
            record["data"] = bytes
            keep(record["title"] as String?)
            keep(record["body"] as String?)
            keep(record["color"] as String?)
            keep(record["owner"] as String?)
            keep(record["count"] as Int?)
            keep(record["priority"] as Int?)
            keep(record["rating"] as Double?)
            keep(record["weight"] as Double?)
            keep(record["due"] as Date?)
            keep(record["data"] as Data?)
        }
    }()

    /// The work with a dictionary of an enumeration, in an object like a record.
    static let dictionary: Work = {
        let store = Store()
        return Work("[String: Value]") {
            store.fields["title"] = .string("Buy milk")
            store.fields["body"] = .string("Two litres, and bread")
            store.fields["color"] = .string("green")
            store.fields["owner"] = .string("Ada")
            store.fields["count"] = .integer(42)
            store.fields["priority"] = .integer(3)
            store.fields["rating"] = .double(2.5)
            store.fields["weight"] = .double(0.25)
            store.fields["due"] = .date(due)
            store.fields["data"] = .bytes(bytes)
            keep(store.string("title"))
            keep(store.string("body"))
            keep(store.string("color"))
            keep(store.string("owner"))
            keep(store.integer("count"))
            keep(store.integer("priority"))
            keep(store.double("rating"))
            keep(store.double("weight"))
            keep(store.date("due"))
            keep(store.bytes("data"))
        }
    }()

    private enum Value {
        case string(String)
        case integer(Int)
        case double(Double)
        case date(Date)
        case bytes(Data)
    }

    private final class Store: @unchecked Sendable {
        // @unchecked Sendable because one task uses it.
        var fields: [String: Value] = [:]

        func string(_ key: String) -> String? {
            if case .string(let value)? = fields[key] { value } else { nil }
        }

        func integer(_ key: String) -> Int? {
            if case .integer(let value)? = fields[key] { value } else { nil }
        }

        func double(_ key: String) -> Double? {
            if case .double(let value)? = fields[key] { value } else { nil }
        }

        func date(_ key: String) -> Date? {
            if case .date(let value)? = fields[key] { value } else { nil }
        }

        func bytes(_ key: String) -> Data? {
            if case .bytes(let value)? = fields[key] { value } else { nil }
        }
    }
}
