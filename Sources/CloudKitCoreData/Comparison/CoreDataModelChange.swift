/// A difference between two versions of a model.
public struct CoreDataModelChange: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of changes.
    public enum Kind: String, Hashable, Sendable {
        /// Only the new version has it.
        case added
        /// Only the old version has it.
        case removed
        /// It has another name, according to its renaming identifier.
        case renamed
        /// Its definition changed.
        case changed
    }

    /// The migration of a store's data.
    public enum Migration: Hashable, Sendable {
        /// Core Data infers the migration and performs it automatically.
        case automatic
        /// The app must define the migration, with a mapping model or a custom stage; the text is
        /// the reason.
        case needsMapping(String)
    }

    /// The kind of change.
    public var kind: Kind
    /// The entity, by its new name if it was renamed.
    public var entity: String
    /// The property, by its new name if it was renamed; nil for the entity itself.
    public var property: String?
    /// The difference, such as `type: Integer 16 → String`.
    public var text: String
    /// The migration of a store's data.
    public var migration: Migration
    /// The effect on the records in CloudKit, if it is not the expected one.
    public var cloudEffect: String?

    /// The change on one line.
    public var description: String {
        let place = property.map { "\(entity).\($0)" } ?? entity
        var line = "\(place): \(text)"
        if case .needsMapping(let reason) = migration { line += "; needs a mapping: \(reason)" }
        if let cloudEffect { line += "; CloudKit: \(cloudEffect)" }
        return line
    }
}

extension CoreDataModel {
    /// Returns the differences from a newer version, with the migrations that Core Data performs
    /// automatically and the effects in CloudKit.
    ///
    /// Entities and properties are matched by their renaming identifiers, or else by their names.
    ///
    /// - Returns: The differences by entity and property. Differences in user information and code
    ///   generation are ignored.
    public func changes(to newer: CoreDataModel) -> [CoreDataModelChange] {
        ModelComparison(old: self, new: newer).changes()
    }
}
