public import CloudKitStore
import Foundation

/// The format in which Core Data and SwiftData keep the objects of a model as records in CloudKit.
///
/// Use it to read and write the records of an app that has `NSPersistentCloudKitContainer`: with a `CloudStore`, with
/// `CloudKitRecordEncoder` and `CloudKitRecordDecoder`, or as a ``CoreDataGraph``.
///
/// ```swift
/// let model = try CoreDataModelVersions(contentsOf: url).current
/// let store = try CloudStore(database: queue, container: .default(), format: .coreData(model))
/// ```
public struct CoreDataFormat: Sendable {
    /// The name of the zone in the private database that holds the records.
    public static let zoneName = "com.apple.coredata.cloudkit.zone"

    /// The prefix of the names of the zones in which the app shares objects.
    public static let shareZonePrefix = "com.apple.coredata.cloudkit.share."

    /// The prefix of record types and fields.
    static let prefix = "CD_"
    /// The field with the name of an object's entity.
    static let entityField = "CD_entityName"

    /// The model.
    public let model: CoreDataModel

    /// The tables that a store syncs: those of ``CoreDataTables``, whose rows are the records.
    ///
    /// Adjust the rules of a table here, before the store is created.
    public var tables: [SyncedTable] = []

    /// A Boolean value that indicates whether a store keeps the columns of composites on the device.
    ///
    /// How a record holds a composite is not known. A store of a model that has some is refused unless this is `true`:
    /// their columns then neither show what the app writes nor reach it.
    public var keepsCompositesLocal = false

    /// The mirrored entities.
    let entities: Set<String>

    /// Creates the format of a model.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - configuration: The configuration whose entities are in the mirrored store; nil for all entities.
    /// - Throws: ``CoreDataModelError`` if there is no such configuration, or with all properties that need the
    ///   same field in different ways.
    public init(
        model: CoreDataModel,
        configuration: String? = nil
    ) throws(CoreDataModelError) {
        self.model = model
        entities = Set(try model.entities(ofConfiguration: configuration).map(\.name))
        let mirroring = CoreDataMirroring(configuration: configuration)
        let conflicts = try MirroredSchema(model, mirroring).conflicts
        guard conflicts.isEmpty else {
            throw CoreDataModelError(
                .inconsistent,
                conflicts.map { $0.message + "; rename one" }.joined(separator: "\n")
            )
        }
        tables = SyncedTables(format: self).tables()
    }

    /// Returns the format of a model.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - configuration: The configuration whose entities are in the mirrored store; nil for all entities.
    /// - Returns: The format.
    /// - Throws: ``CoreDataModelError`` as ``init(model:configuration:)`` does.
    public static func coreData(
        _ model: CoreDataModel,
        configuration: String? = nil
    ) throws(CoreDataModelError) -> CoreDataFormat {
        try CoreDataFormat(model: model, configuration: configuration)
    }

    /// Throws an error that names the attributes whose columns a store cannot sync.
    func checkComposites() throws(CoreDataRecordError) {
        guard !keepsCompositesLocal else { return }
        let composites = model.entities.filter { entities.contains($0.name) }.flatMap { entity in
            entity.attributes.filter { $0.type == .composite && $0.isMirrored }
                .map { "\(entity.name).\($0.name)" }
        }
        guard !composites.isEmpty else { return }
        throw CoreDataRecordError(
            .unknownForm,
            composites.joined(separator: ", "),
            "how a record holds a composite is not known, so that its columns would not be synced; set the format's "
                + "keepsCompositesLocal to keep them on this device, or give the entity an attribute for each part"
        )
    }

    /// Returns the record type of an entity's objects.
    func recordType(of entity: CoreDataModel.Entity) -> String {
        Self.prefix + model.root(of: entity).name
    }
}

extension CoreDataModel.Attribute {
    /// The name of the field with the attribute's values.
    var field: String { CoreDataFormat.prefix + name }

    /// The name of the field with the asset of a large value; nil for a type whose values are small.
    var companionField: String? {
        let fields = MirroredField.fields(of: self, in: "")
        return fields.first { $0.role == .companion }?.name
    }
}
