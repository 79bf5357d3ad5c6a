/// The settings with which an app mirrors a model to CloudKit.
public struct CoreDataMirroring: Hashable, Sendable {
    /// A database that a model is mirrored to.
    public enum Database: Hashable, Sendable {
        /// The private database, together with the shared one.
        case `private`
        /// The public database, which Core Data queries instead of fetching its changes.
        case `public`
    }

    /// The database that the model is mirrored to.
    public var database = Database.private

    /// The configuration whose entities are in the mirrored store; nil for all entities.
    public var configuration: String?

    /// A Boolean value that indicates whether the app shares objects, now or in a later version.
    ///
    /// If a production schema lacks the fields for sharing, sharing fails without a visible error.
    public var isShared = true

    /// Creates the settings that mirror all entities to the private database, with sharing.
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
    /// Returns the entities of a configuration, by name; all entities for nil.
    ///
    /// - Throws: ``CoreDataModelError`` if there is no such configuration.
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
