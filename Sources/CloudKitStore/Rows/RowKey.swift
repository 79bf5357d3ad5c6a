import CloudKitBasics
import Foundation
import GRDB

/// A row's primary key, with its representations: column values, the text in the outbox, and a
/// record name.
struct RowKey: Hashable, Sendable {
    /// The maximum length of a record name.
    static let nameLimit = 255

    var table: String
    /// The key as the triggers write it: the value of a single column, a JSON array of several;
    /// bytes in hexadecimal.
    var text: String

    init(table: String, text: String) {
        self.table = table
        self.text = text
    }

    /// Creates the key of a record name in a table.
    init?(recordName: String, _ table: TableSchema) {
        if table.isNamedByKey {
            self.init(components: [recordName], table)
            return
        }
        let prefix = table.recordType + ":"
        guard recordName.hasPrefix(prefix) else { return nil }
        let parts = recordName.utf8.dropFirst(prefix.utf8.count)
            .split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard parts.count == table.keyColumns.count else { return nil }
        var components: [String] = []
        for part in parts {
            guard let component = Self.unescaped(Substring(part)) else { return nil }
            components.append(component)
        }
        self.init(components: components, table)
    }

    /// Creates a key from components, one for each column.
    init?(components: [String], _ table: TableSchema) {
        for (component, column) in zip(components, table.keyColumns)
        where Self.value(component, column) == nil {
            return nil
        }
        self.table = table.name
        text =
            components.count == 1
            ? components[0]
            : "["
                + zip(components, table.keyColumns).map { component, column in
                    Self.isNumber(column) ? component : Self.json(component)
                }.joined(separator: ",") + "]"
    }

    /// Creates a key from values, one for each column; nil for a value that no key has.
    init?(values: [DatabaseValue], _ table: TableSchema) {
        var components: [String] = []
        for (value, column) in zip(values, table.keyColumns) {
            guard let component = Self.component(value, column) else { return nil }
            components.append(component)
        }
        guard components.count == table.keyColumns.count else { return nil }
        self.init(components: components, table)
    }

    /// Returns a value as the triggers write it.
    private static func component(_ value: DatabaseValue, _ column: TableColumn) -> String? {
        guard value.textBytes == nil else { return nil }
        switch value.storage {
        case .null, .double: return nil
        case .int64(let number):
            return isBytes(column) ? hexadecimal("\(number)".utf8) : String(number)
        case .string(let text):
            return isBytes(column) ? hexadecimal(text.utf8) : text
        case .blob(let data):
            return isBytes(column)
                ? hexadecimal(data) : String(validating: data, as: UTF8.self)
        }
    }

    /// Returns whether both keys are equal, byte for byte.
    static func == (one: RowKey, other: RowKey) -> Bool {
        one.text.hasSameBytes(as: other.text) && one.table == other.table
    }

    /// Returns the SQL of the key text for a trigger's row name.
    static func sql(_ table: TableSchema, of row: String) -> String {
        let columns = table.keyColumns.map { text("\(row).\($0.name.quoted)", $0) }
        return columns.count == 1
            ? "CAST(\(columns[0]) AS TEXT)" : "json_array(\(columns.joined(separator: ", ")))"
    }

    /// Returns the SQL of the key text of a single column, from its value.
    static func sql(of value: String, _ column: TableColumn) -> String {
        "CAST(\(text(value, column)) AS TEXT)"
    }

    private static func text(_ sql: String, _ column: TableColumn) -> String {
        isBytes(column) ? "hex(\(sql))" : sql
    }

    /// Returns the key's components, one for each column; nil for an invalid text.
    func components(_ table: TableSchema) -> [String]? {
        if table.keyColumns.count == 1 { return [text] }
        guard let values = JSONText.array(text), values.count == table.keyColumns.count else {
            return nil
        }
        return values.map { value in
            switch value {
            case .integer(let number): String(number)
            case .text(let text): text
            default: ""
            }
        }
    }

    /// Returns the values of the key's columns; nil for an invalid text.
    func values(_ table: TableSchema) -> [DatabaseValue]? {
        guard let components = components(table) else { return nil }
        var values: [DatabaseValue] = []
        for (component, column) in zip(components, table.keyColumns) {
            guard let value = Self.value(component, column) else { return nil }
            values.append(value)
        }
        return values
    }

    /// Returns the record's name.
    ///
    /// - Throws: A ``CloudStoreError`` when it would exceed the maximum length.
    func recordName(_ table: TableSchema) throws -> String {
        if table.isNamedByKey { return try checkedName(table) }
        let name =
            table.recordType + ":"
            + (components(table) ?? [text]).map(Self.escaped).joined(separator: ",")
        guard name.utf8.count <= Self.nameLimit else {
            throw CloudStoreError(
                .invalidName,
                "The key '\(text.prefix(40))…' of the table '\(table.name)' needs a record name of "
                    + "\(name.utf8.count) characters; at most \(Self.nameLimit) are allowed, so "
                    + "use a shorter key"
            )
        }
        return name
    }

    /// Returns the key as a record name.
    private func checkedName(_ table: TableSchema) throws -> String {
        guard !text.isEmpty, text.utf8.count <= Self.nameLimit,
            text.utf8.first != UInt8(ascii: "_"),
            text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
        else {
            throw CloudStoreError(
                .invalidName,
                "The key '\(text.prefix(40))' of the table '\(table.name)' is not a record name: these "
                    + "have 1 to \(Self.nameLimit) ASCII characters and do not begin with '_'"
            )
        }
        return text
    }

    // MARK: Components

    private static func isBytes(_ column: TableColumn) -> Bool {
        column.form == .bytes || column.form == .uuid
    }

    private static func isNumber(_ column: TableColumn) -> Bool {
        column.form == .integer || column.form == .boolean
    }

    /// Returns bytes as SQLite's `hex` writes them.
    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        Hexadecimal.text(bytes, uppercase: true)
    }

    private static func value(_ component: String, _ column: TableColumn) -> DatabaseValue? {
        if isNumber(column) { return Int64(component)?.databaseValue }
        guard isBytes(column) else { return component.databaseValue }
        guard let data = Hexadecimal.bytes(component).map({ Data($0) }) else { return nil }
        // A UUID in its usual notation is not arbitrary bytes that look like one.
        if column.form == .uuid, data.count == 36,
            let text = String(validating: data, as: UTF8.self), DatabaseForms.uuidBytes(text) != nil
        {
            return text.databaseValue
        }
        return data.databaseValue
    }

    /// Returns a JSON string as SQLite writes it.
    private static func json(_ text: String) -> String {
        JSONText.string(text)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func escaped(_ component: String) -> String {
        if component.utf8.allSatisfy(isPlain) { return component }
        var name = ""
        for byte in component.utf8 {
            if isPlain(byte) {
                name.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                name += "%" + hexadecimal([byte])
            }
        }
        return name
    }

    private static func unescaped(_ part: Substring) -> String? {
        guard part.utf8.contains(UInt8(ascii: "%")) else { return String(part) }
        var bytes: [UInt8] = []
        var rest = Array(part.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                let value = Hexadecimal.bytes(String(decoding: rest.prefix(2), as: UTF8.self))
            else { return nil }
            bytes += value
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension RowChange {
    init(_ kind: Kind, _ key: RowKey) {
        self.init(kind: kind, table: key.table, key: key.text)
    }
}
