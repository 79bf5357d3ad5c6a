/// The format of a table's records where another client of CloudKit determines it.
///
/// A table without one has the store's own format. With one, the store reads and writes what the other client does:
/// references are the names of their records, large values are assets, and no field is the store's own. So stamps
/// and unusual forms of values stay on the device.
package struct RecordFormat: Hashable, Sendable {
    /// The content of a record.
    package enum Content: Hashable, Sendable {
        /// An object.
        case object(Kinds)
        /// A link between two objects; the tables of all links may share one record type.
        case link(Link)
    }

    /// The kinds of objects in the records of one type.
    package struct Kinds: Hashable, Sendable {
        /// The field that names an object's kind.
        package var field: String
        /// The kind of a record without that field, and of the rows of a table without a column for it.
        package var usual: String
        /// The kinds by name.
        package var all: [String: Kind]

        package init(field: String, usual: String, all: [String: Kind]) {
            self.field = field
            self.usual = usual
            self.all = all
        }
    }

    /// A kind of objects.
    package struct Kind: Hashable, Sendable {
        /// The fields that its objects have, without the one that names the kind.
        package var fields: Set<String>
        /// The values that missing fields stand for.
        package var defaults: [String: StoreValue]
        /// A Boolean value that indicates whether only other kinds that inherit from it have objects.
        package var isAbstract: Bool

        package init(
            fields: Set<String>,
            defaults: [String: StoreValue] = [:],
            isAbstract: Bool = false
        ) {
            self.fields = fields
            self.defaults = defaults
            self.isAbstract = isAbstract
        }
    }

    /// A link, of which a field each holds the names, the kinds and the relations of both ends, separated by colons.
    package struct Link: Hashable, Sendable {
        package var names: String
        package var kinds: String
        package var relations: String
        /// The ends in the order in which they are written.
        package var ends: [End]

        package init(names: String, kinds: String, relations: String, ends: (End, End)) {
            self.names = names
            self.kinds = kinds
            self.relations = relations
            self.ends = [ends.0, ends.1]
        }
    }

    /// An end of a link.
    package struct End: Hashable, Sendable {
        /// The field of the store that refers to the object.
        package var field: String
        /// The kind that declares the relation, first, and the others that may be written in its place.
        package var kinds: [String]
        /// The relation that leads from this end to the other.
        package var relation: String

        package init(field: String, kinds: [String], relation: String) {
            self.field = field
            self.kinds = kinds
            self.relation = relation
        }
    }

    /// The notation of a field's values in the record.
    package enum Notation: Hashable, Sendable {
        /// The usual one.
        case plain
        /// A floating-point number, which is text with all its digits in the row.
        case decimal
        /// A UUID in capitals.
        case identifier
        /// The text of a URI.
        case address
        /// A whole number of 16 bits.
        case short
        /// A whole number of 32 bits.
        case medium
        /// A whole number that is 0 or 1.
        case flag
        /// A floating-point number of 32 bits.
        case single
    }

    package var content: Content
    /// The fields that may be too large for a record, with those of the assets that then hold them.
    package var companions: [String: String]
    /// The notations by field; a missing one is the usual one.
    package var notations: [String: Notation]

    package init(
        _ content: Content,
        companions: [String: String] = [:],
        notations: [String: Notation] = [:]
    ) {
        self.content = content
        self.companions = companions
        self.notations = notations
    }

    var kinds: Kinds? { if case .object(let kinds) = content { kinds } else { nil } }

    package var link: Link? { if case .link(let link) = content { link } else { nil } }

    /// Returns whether a record of the table's type has this content, from its fields with text.
    func holds(_ text: (_ field: String) -> String?) -> Bool {
        switch content {
        case .object(let kinds):
            let kind = text(kinds.field) ?? ""
            return kinds.all[kind.isEmpty ? kinds.usual : kind] != nil
        case .link(let link): return link.names(text) != nil
        }
    }
}

extension RecordFormat.Link {
    /// Returns the names of the objects at both ends, in the order of ``ends``; nil for another link.
    package func names(_ text: (_ field: String) -> String?) -> [String]? {
        let parts = [names, kinds, relations].map { field in
            (text(field) ?? "").split(separator: ":", omittingEmptySubsequences: false)
                .map(String.init)
        }
        guard parts.allSatisfy({ $0.count == 2 }), !parts[0].contains("") else { return nil }
        for order in [[0, 1], [1, 0]] {
            let isThis = zip(ends, order).allSatisfy { end, place in
                end.relation == parts[2][place] && end.kinds.contains(parts[1][place])
            }
            if isThis { return order.map { parts[0][$0] } }
        }
        return nil
    }
}

/// The rule for values that may be too large for a record, of which the service accepts 1 MB.
package enum InlineValues {
    /// The bytes that the values of a record may have before further ones become assets.
    package static let limit = 700_000

    /// Returns the fields whose values have to be assets: from the smallest on, values stay in the
    /// record as long as there is room.
    ///
    /// - Parameters:
    ///   - sizes: The sizes by field.
    ///   - used: The size of the record's other values.
    /// - Returns: The fields.
    package static func inAssets(_ sizes: [String: Int], besides used: Int) -> Set<String> {
        var used = used
        var assets: Set<String> = []
        for (field, size) in sizes.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            if used + size <= limit { used += size } else { assets.insert(field) }
        }
        return assets
    }
}
