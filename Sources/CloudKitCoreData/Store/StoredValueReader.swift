import Foundation
import GRDB

/// A reader of the values in a store's columns.
struct StoredValueReader: Sendable {
    let files: ExternalData

    /// Returns the SQL of a column's value, with text as bytes: strings of GRDB end at a NUL.
    static func expression(_ value: StoreLayout.Value, of row: String) -> String {
        let column = "\(row).\(value.column.quotedName)"
        guard [.string, .uri].contains(value.attribute.type) else { return column }
        // Bytes that should be text are described by text.
        guard value.isExternal else {
            return """
                CASE typeof(\(column)) WHEN 'text' THEN CAST(\(column) AS BLOB)
                WHEN 'blob' THEN length(\(column)) || ' bytes' ELSE \(column) END
                """
        }
        return """
            CASE typeof(\(column))
            WHEN 'text' THEN CAST(CAST(x'00' AS TEXT) || \(column) AS BLOB)
            ELSE \(column) END
            """
    }

    /// Returns the value of a column; nil when there is none.
    func value(
        _ stored: DatabaseValue,
        _ value: StoreLayout.Value
    ) throws(CoreDataStoreError) -> CoreDataValue? {
        switch (value.attribute.type, stored.storage) {
        case (_, .null): return nil
        case (.integer16, .int64(let number)), (.integer32, .int64(let number)),
            (.integer64, .int64(let number)):
            return .integer(number)
        case (.boolean, .int64(let number)): return .boolean(number != 0)
        case (.double, .int64(let number)), (.float, .int64(let number)):
            return .double(Double(number))
        case (.double, .double(let number)), (.float, .double(let number)): return .double(number)
        case (.decimal, let storage):
            if let number = Self.decimal(storage) { return .decimal(number) }
        case (.date, .int64(let seconds)):
            return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
        case (.date, .double(let seconds)) where seconds.isFinite:
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case (.string, .blob(let data)): return .string(try text(try bytes(data, value)))
        case (.uri, .blob(let data)): return .uri(try text(try bytes(data, value)))
        case (.uuid, .blob(let data)) where data.count == 16: return .uuid(UUID(bytes: data))
        case (.binary, .blob(let data)), (.transformable, .blob(let data)):
            return .bytes(try bytes(data, value))
        default: break
        }
        throw CoreDataStoreError(
            .invalidRow,
            "",
            "its value \(Self.summary(stored, value)) is no \(value.attribute.type.name)"
        )
    }

    private static func summary(_ stored: DatabaseValue, _ value: StoreLayout.Value) -> String {
        guard [.string, .uri].contains(value.attribute.type),
            case .string(let size) = stored.storage
        else { return stored.summary }
        return "of \(size)"
    }

    private func text(_ data: Data) throws(CoreDataStoreError) -> String {
        guard let text = String(validating: data, as: UTF8.self) else {
            throw CoreDataStoreError(.invalidRow, "", "its text is not UTF-8")
        }
        return text
    }

    /// Returns the bytes of a value, which may be in a file.
    func bytes(
        _ data: Data,
        _ value: StoreLayout.Value
    ) throws(CoreDataStoreError) -> Data {
        guard value.isExternal, let mark = data.first else { return data }
        switch mark {
        case ExternalData.Mark.inline: return Data(data.dropFirst())
        case ExternalData.Mark.file: return try files.content(Data(data.dropFirst()))
        case ExternalData.Mark.text where value.attribute.type == .string:
            return Data(data.dropFirst())
        default:
            throw CoreDataStoreError(
                .invalidRow,
                "",
                "it begins with the byte \(mark), and values that may be in files with 1 or 2"
            )
        }
    }

    /// Returns a number as a decimal, with the digits that distinguish it from all others.
    private static func decimal(_ storage: DatabaseValue.Storage) -> Decimal? {
        let text: String
        switch storage {
        case .int64(let number): return Decimal(number)
        case .double(let number):
            guard number.isFinite else { return nil }
            text = "\(number)"
        case .string(let digits): text = digits
        case .null, .blob: return nil
        }
        guard case .decimal(let number)? = CoreDataValue(text, as: .decimal) else { return nil }
        return number
    }
}

extension DatabaseValue {
    /// The value for messages, shortened.
    var summary: String {
        switch storage {
        case .null: "NULL"
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): String(text.prefix(60)).debugDescription
        case .blob(let data): "of \(data.count) bytes"
        }
    }
}

extension UUID {
    /// Creates an identifier from 16 bytes.
    init(bytes data: Data) {
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &uuid) { target in
            for (place, byte) in zip(target.indices, data) { target[place] = byte }
        }
        self.init(uuid: uuid)
    }
}
