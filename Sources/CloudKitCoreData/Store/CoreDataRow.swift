/// The identity of an object in its store.
public struct CoreDataObjectID: Hashable, Sendable, CustomStringConvertible {
    /// The root entity of the object's hierarchy, whose table the row is in.
    public let root: String
    /// The row's key in that table.
    public let key: Int64

    /// The entity and the key.
    public var description: String { "\(root)/p\(key)" }
}

/// An object of a store: its values, and the targets of its to-one relationships.
public struct CoreDataRow: Hashable, Sendable {
    /// The object's identity.
    public let id: CoreDataObjectID
    /// The object's own entity.
    public let entity: String
    /// The values by the names of attributes; parts of a composite as `home.city`.
    ///
    /// An attribute without a value has no entry.
    public let values: [String: CoreDataValue]
    /// The targets of to-one relationships.
    ///
    /// They may be missing in the store, because Core Data leaves dangling links.
    public let links: [String: CoreDataObjectID]
    /// The positions among the objects of ordered relationships, by the to-one ends; they have gaps.
    public let positions: [String: Int64]
    /// The object's record in CloudKit; nil if the store has none.
    public let record: CoreDataMirror.Record?
}

/// A link of a many-to-many relationship.
public struct CoreDataLink: Hashable, Sendable {
    /// The object that declares the relationship.
    public let source: CoreDataObjectID
    /// The related object.
    public let target: CoreDataObjectID
    /// The target's position among those of the source, if they are ordered; positions have gaps.
    public let position: Int64?
}
