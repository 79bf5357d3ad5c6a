/// How an app mirrors a model to CloudKit.
public struct CoreDataMirroring: Hashable, Sendable {
    /// A database that a model is mirrored to.
    public enum Database: Hashable, Sendable {
        /// The private database, and the shared one with it.
        case `private`
        /// The public database, which Core Data queries instead of fetching its changes.
        case `public`
    }

    /// The database.
    public var database = Database.private

    /// The configuration whose entities are in the store that is mirrored; nil for all entities.
    public var configuration: String?

    /// Whether the app shares objects, now or in a later version.
    ///
    /// A production schema that lacks what sharing needs stops it with no visible error.
    public var isShared = true

    /// Makes the mirroring of all entities to the private database, with sharing.
    public init(
        database: Database = .private,
        configuration: String? = nil,
        isShared: Bool = true
    ) {
        self.database = database
        self.configuration = configuration
        self.isShared = isShared
    }
}

extension CoreDataModel {
    /// The entities of a configuration, by name; all for nil.
    ///
    /// - Throws: ``CoreDataModelError`` where there is no such configuration.
    public func entities(
        ofConfiguration name: String?
    ) throws(CoreDataModelError) -> [Entity] {
        guard let name else { return entities }
        guard let configuration = configuration(named: name) else {
            let known = configurations.map(\.name).joined(separator: ", ")
            throw CoreDataModelError(
                .inconsistent,
                "the model has no configuration \(name)"
                    + (known.isEmpty ? "; it has none but the default one" : "; it has \(known)")
            )
        }
        let members = Set(configuration.entities)
        return entities.filter { members.contains($0.name) }
    }
}
