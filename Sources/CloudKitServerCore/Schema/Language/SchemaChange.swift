/// A difference between two schemas, as a line of text for people.
public struct SchemaChange: Hashable, Sendable, CustomStringConvertible {
    /// The kind of change.
    public enum Kind: String, Hashable, Sendable {
        /// The item exists only in the new schema.
        case added = "+"
        /// The item exists only in the old schema.
        case removed = "-"
        /// The item differs.
        case changed = "~"
    }

    /// The kind of change.
    public var kind: Kind
    /// The record type; `nil` for a role.
    public var recordType: String?
    /// The changed item, as written in the schema language.
    public var text: String
    /// A Boolean value that indicates whether data of the old schema may not fit the new one.
    public var losesData: Bool

    /// The change on one line.
    public var description: String {
        recordType.map { "\(kind.rawValue) \($0): \(text)" } ?? "\(kind.rawValue) \(text)"
    }
}

extension SchemaDefinition {
    /// Returns the changes that turn this definition into another, in a fixed order.
    func changes(to other: SchemaDefinition) -> [SchemaChange] {
        var changes: [SchemaChange] = []
        for role in roles.union(other.roles).sorted()
        where !(roles.contains(role) && other.roles.contains(role)) {
            changes.append(
                SchemaChange(
                    kind: other.roles.contains(role) ? .added : .removed,
                    recordType: nil,
                    text: "ROLE \(role)",
                    losesData: false
                )
            )
        }
        for name in Set(types.keys).union(other.types.keys).sorted() {
            switch (types[name], other.types[name]) {
            case (nil, .some):
                changes.append(Self.change(.added, name, "RECORD TYPE \(name)", losesData: false))
            case (.some, nil):
                changes.append(Self.change(.removed, name, "RECORD TYPE \(name)", losesData: true))
            case (let old?, let new?): changes += Self.changes(name, old, new)
            case (nil, nil): break
            }
        }
        return changes
    }

    private static func changes(
        _ name: String,
        _ old: RecordType,
        _ new: RecordType
    ) -> [SchemaChange] {
        var changes: [SchemaChange] = []
        for field in Set(old.fields.keys).union(new.fields.keys).sorted() {
            switch (old.fields[field], new.fields[field]) {
            case (nil, let added?):
                changes.append(change(.added, name, line(field, added), losesData: false))
            case (let removed?, nil):
                let losesData = !field.hasPrefix("___")
                changes.append(change(.removed, name, line(field, removed), losesData: losesData))
            case (let before?, let after?) where before != after:
                let losesData =
                    !before.type.fits(after.type) || before.isEncrypted != after.isEncrypted
                let text = "\(line(field, before)) -> \(line(field, after))"
                changes.append(change(.changed, name, text, losesData: losesData))
            default: break
            }
        }
        if let grants = new.grants, grants != old.grants {
            changes.append(change(.changed, name, "GRANT", losesData: false))
        }
        return changes
    }

    private static func change(
        _ kind: SchemaChange.Kind,
        _ type: String,
        _ text: String,
        losesData: Bool
    ) -> SchemaChange {
        SchemaChange(kind: kind, recordType: type, text: text, losesData: losesData)
    }
}
