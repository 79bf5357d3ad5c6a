/// A difference between two versions of a model.
public struct CoreDataModelChange: Hashable, Sendable, CustomStringConvertible {
    /// What became of the entity or property.
    public enum Kind: String, Hashable, Sendable {
        /// The new version has it alone.
        case added
        /// The old version has it alone.
        case removed
        /// It has another name; its renaming identifier says so.
        case renamed
        /// It is another than before.
        case changed
    }

    /// What becomes of the data in a store.
    public enum Migration: Hashable, Sendable {
        /// Core Data infers it and does it by itself.
        case automatic
        /// The app must say how, with a mapping model or a stage of its own.
        case needsMapping(String)
    }

    /// What became of it.
    public var kind: Kind
    /// The entity, under its new name where it has one.
    public var entity: String
    /// The property, under its new name where it has one; nil for the entity itself.
    public var property: String?
    /// What differs, such as `type: Integer 16 → String`.
    public var text: String
    /// What becomes of the data in a store.
    public var migration: Migration
    /// What becomes of the records in CloudKit, where that is not what a reader expects.
    public var cloudEffect: String?

    /// All of it on one line.
    public var description: String {
        let place = property.map { "\(entity).\($0)" } ?? entity
        var line = "\(place): \(text)"
        if case .needsMapping(let reason) = migration { line += "; needs a mapping: \(reason)" }
        if let cloudEffect { line += "; CloudKit: \(cloudEffect)" }
        return line
    }
}

extension CoreDataModel {
    /// Finds what differs in a newer version, what Core Data migrates by itself, and what CloudKit
    /// makes of it.
    ///
    /// An entity or property is the one whose renaming identifier, or else whose name, is the same.
    ///
    /// - Returns: The differences by entity and property. User information and the way in which code
    ///   is generated are none.
    public func changes(to newer: CoreDataModel) -> [CoreDataModelChange] {
        ModelComparison(old: self, new: newer).changes()
    }
}
