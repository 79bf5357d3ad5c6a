public import CloudKit
import CloudKitStore

/// The objects of a zone of an app with Core Data or SwiftData, with their relationships.
///
/// ```swift
/// let graph = try await CoreDataGraph(.coreData(model), in: container.privateCloudDatabase)
/// for post in graph.objects(of: "Post") {
///     print(post.values["title"] as Any, graph.objects("tags", of: post).map(\.recordID.recordName))
/// }
/// ```
public struct CoreDataGraph: Sendable {
    /// The objects by the names of their records.
    public private(set) var objects: [String: CoreDataObject] = [:]
    /// The records that could not be read, and the reasons.
    public private(set) var problems: [CKRecord.ID: String] = [:]

    private let format: CoreDataFormat
    /// The objects whose to-one relationships lead to an object, by its name and by the relationship.
    private var referring: [String: [String: Set<String>]] = [:]
    /// The objects that links of many-to-many relationships lead to, by the name of the object that has the
    /// relationship, and by the relationship.
    private var linked: [String: [String: Set<String>]] = [:]

    /// Fetches all records of a zone.
    ///
    /// - Parameters:
    ///   - format: The format of the model.
    ///   - zoneID: The zone; nil for the app's own.
    ///   - database: The database with the zone.
    /// - Throws: A `CKError`.
    public init(
        _ format: CoreDataFormat,
        zoneID: CKRecordZone.ID? = nil,
        in database: CKDatabase
    ) async throws {
        self.format = format
        let zoneID = zoneID ?? CKRecordZone.ID(zoneName: CoreDataFormat.zoneName)
        var token: CKServerChangeToken?
        while true {
            let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            for (_, result) in page.modificationResultsByID { add(try result.get().record) }
            token = page.changeToken
            if !page.moreComing { return }
        }
    }

    /// Creates a graph of fetched records.
    ///
    /// - Parameters:
    ///   - format: The format of the model.
    ///   - records: The records of a zone, with the files of their assets.
    public init(_ format: CoreDataFormat, records: some Sequence<CKRecord>) {
        self.format = format
        for record in records { add(record) }
    }

    private mutating func add(_ record: CKRecord) {
        if record.recordType == MirroredSchema.linkType { return addLink(record) }
        do {
            guard let object = try format.object(record) else { return }
            let name = record.recordID.recordName
            objects[name] = object
            for (relationship, target) in object.links {
                referring[target, default: [:]][relationship, default: []].insert(name)
            }
        } catch {
            problems[record.recordID] = "\(error)"
        }
    }

    private mutating func addLink(_ record: CKRecord) {
        func text(_ field: String) -> String? { record.object(forKey: field) as? String }
        let link = format.tables.lazy.compactMap { $0.format?.link }
            .compactMap { link in link.names(text).map { (link, $0) } }.first
        guard let (link, names) = link else {
            problems[record.recordID] =
                "\(CoreDataFormat.place(record)): it links by no relationship of the model"
            return
        }
        for (place, end) in link.ends.enumerated() {
            linked[names[place], default: [:]][end.relation, default: []].insert(names[1 - place])
        }
    }

    // MARK: Objects

    /// Returns the objects of an entity, and of those that inherit from it, by the names of their records.
    public func objects(of entity: String) -> [CoreDataObject] {
        guard let found = format.model.entity(named: entity) else { return [] }
        let names = Set(format.model.hierarchy(below: found).map(\.name))
        return sorted(objects.values.filter { names.contains($0.entity) })
    }

    /// Returns the object that a to-one relationship leads to; nil when there is none in the zone.
    public func object(_ relationship: String, of object: CoreDataObject) -> CoreDataObject? {
        object.links[relationship].flatMap { objects[$0] }
    }

    /// Returns the objects that a relationship leads to, by the names of their records.
    public func objects(_ relationship: String, of object: CoreDataObject) -> [CoreDataObject] {
        let model = format.model
        guard let entity = model.entity(named: object.entity),
            let property = model.relationships(of: entity).first(where: { $0.name == relationship })
        else { return [] }
        let name = object.recordID.recordName
        guard property.isToMany else {
            return self.object(relationship, of: object).map { [$0] } ?? []
        }
        if model.isManyToMany(property) {
            return sorted((linked[name]?[relationship] ?? []).compactMap { objects[$0] })
        }
        guard let inverse = model.inverse(of: property),
            let owner = model.owner(ofInverseOf: property).flatMap(model.entity(named:))
        else { return [] }
        let entities = Set(model.hierarchy(below: owner).map(\.name))
        return sorted(
            (referring[name]?[inverse.name] ?? []).compactMap { objects[$0] }
                .filter { entities.contains($0.entity) }
        )
    }

    private func sorted(_ objects: [CoreDataObject]) -> [CoreDataObject] {
        objects.sorted { $0.recordID.recordName < $1.recordID.recordName }
    }
}
