import Foundation

extension RecordFormat {
    /// Converts a record's fields to those of the store; fields that are the store's already stay as they are.
    ///
    /// - Parameters:
    ///   - fields: The fields.
    ///   - table: The table.
    ///   - content: A closure that returns the content of an asset, as text or as bytes.
    /// - Throws: The closure's error.
    func read(
        _ fields: inout [String: StoreValue],
        _ table: TableSchema,
        content: (_ field: String, _ isText: Bool) throws -> StoreValue
    ) rethrows {
        func text(_ field: String) -> String? {
            if case .text(let text)? = fields[field] { text } else { nil }
        }
        if let link {
            guard let names = link.names(text) else { return }
            for field in [link.names, link.kinds, link.relations] { fields[field] = nil }
            for (end, name) in zip(link.ends, names) { fields[end.field] = .reference(name) }
            return
        }
        for (field, companion) in companions {
            guard case .asset? = fields[companion], fields[field]?.isEmpty ?? true else { continue }
            fields[field] = try content(companion, table.byField[field]?.form == .text)
        }
        for column in table.columns where column.target != nil {
            guard let name = text(column.field) else { continue }
            fields[column.field] = name.isEmpty ? nil : .reference(name)
        }
        for (field, notation) in notations where notation == .decimal {
            switch fields[field] {
            case .real(let number): fields[field] = Notation.decimal(number)
            case .integer(let number): fields[field] = .text(String(number))
            default: continue
            }
        }
        guard let kinds else { return }
        for (field, value) in kinds.all[text(kinds.field) ?? kinds.usual]?.defaults ?? [:]
        where fields[field]?.isNull ?? true {
            fields[field] = value
        }
    }

    /// Returns the fields of a record that is kept without its table, which follows from them.
    func kept(_ fields: [String: StoreValue]) -> [String: StoreValue] {
        guard let link else { return fields }
        let names = link.ends.compactMap { end -> String? in
            if case .reference(let name)? = fields[end.field] { name } else { nil }
        }
        guard names.count == link.ends.count else { return fields }
        var kept = fields
        kept[link.names] = .text(names.joined(separator: ":"))
        kept[link.kinds] = .text(link.ends.map { $0.kinds.first ?? "" }.joined(separator: ":"))
        kept[link.relations] = .text(link.ends.map(\.relation).joined(separator: ":"))
        return kept
    }

    /// Returns the values that missing fields stand for in a record with some fields.
    func defaults(in fields: [String: StoreValue]) -> [String: StoreValue] {
        guard let kinds else { return [:] }
        var kind = kinds.usual
        if case .text(let name)? = fields[kinds.field] { kind = name }
        return kinds.all[kind]?.defaults ?? [:]
    }

    /// Returns the sent values that a record has; a cleared field is one that has the default.
    func values(
        of sent: [String: StoreValue],
        in fields: [String: StoreValue]
    ) -> [String: StoreValue] {
        let defaults = defaults(in: fields)
        return sent.filter { field, value in
            let found = fields[field] ?? .null
            return found == value || (value.isNull && found == defaults[field])
        }
    }
}

extension RecordFormat.Notation {
    /// Returns a row's value as records have it; a value that they cannot have stays as it is.
    func value(_ value: StoreValue) -> StoreValue {
        let plain = value.plain
        if plain.isNull || plain.isInfinite { return value }
        guard case .text(let text) = plain else { return plain }
        return switch self {
        case .plain, .address, .short, .medium, .flag, .single: plain
        case .decimal: Self.number(text).map(Self.decimal) ?? plain
        case .identifier: UUID(uuidString: text).map { .text($0.uuidString) } ?? plain
        }
    }

    /// Returns the number of a decimal text; nil for another text.
    static func number(_ text: String) -> Double? {
        guard text.allSatisfy("0123456789+-.eE".contains), let number = Double(text) else {
            return nil
        }
        return number.isFinite ? number : nil
    }

    /// Returns a number as decimal text; the number itself when it has no such text.
    package static func decimal(_ number: Double) -> StoreValue {
        let decimal = Decimal(string: "\(number)", locale: Locale(identifier: "en_US_POSIX"))
        guard let decimal, !decimal.isNaN else { return .real(number) }
        return .text("\(decimal)")
    }
}

extension StoreValue {
    /// `true` for a number that no field has.
    fileprivate var isInfinite: Bool {
        if case .real(let number) = self { !number.isFinite } else { false }
    }

    /// `true` when there is no value, or one without content.
    fileprivate var isEmpty: Bool {
        switch self {
        case .null: true
        case .text(let text): text.isEmpty
        case .bytes(let data): data.isEmpty
        default: false
        }
    }
}
