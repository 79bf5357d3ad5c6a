/// The identity of an object in its store.
public struct CoreDataObjectID: Hashable, Sendable, CustomStringConvertible {
    /// The root entity of the object's hierarchy, whose table the row is in.
    public let root: String
    /// The row's key in that table.
    public let key: Int64

    /// The entity and the key.
    public var description: String { "\(root)/p\(key)" }
}

/// An object of a store: its values, and the objects that its to-one relationships lead to.
public struct CoreDataRow: Hashable, Sendable {
    /// The object's identity.
    public let id: CoreDataObjectID
    /// The object's own entity.
    public let entity: String
    /// The values by the names of attributes; parts of a composite as `home.city`.
    ///
    /// An attribute without a value has no entry.
    public let values: [String: CoreDataValue]
    /// The objects that to-one relationships lead to.
    ///
    /// They need not be in the store: Core Data leaves links behind.
    public let links: [String: CoreDataObjectID]
    /// The places among the objects of ordered relationships, by the to-one ends; they have gaps.
    public let positions: [String: Int64]
    /// The object's record in CloudKit; nil where the store knows of none.
    public let record: CoreDataMirror.Record?
}

/// A link of a many-to-many relationship.
public struct CoreDataLink: Hashable, Sendable {
    /// The object whose relationship it is.
    public let source: CoreDataObjectID
    /// The object that it leads to.
    public let target: CoreDataObjectID
    /// The target's place among those of the source, where they are ordered; places have gaps.
    public let position: Int64?
}
