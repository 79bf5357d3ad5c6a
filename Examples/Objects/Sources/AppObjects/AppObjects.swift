public import CloudKit
public import CloudKitCoreData
import Foundation

/// The objects of an app with Core Data, in the app's zone.
public struct AppObjects: Sendable {
    private let format: CoreDataFormat
    private let database: CKDatabase

    /// Opens the zone of an app.
    ///
    /// - Parameters:
    ///   - model: The app's model.
    ///   - database: The user's private database.
    /// - Throws: `CoreDataModelError` for a model that CloudKit cannot hold.
    public init(model: CoreDataModel, database: CKDatabase) throws {
        format = try .coreData(model)
        self.database = database
    }

    /// Returns a line for each object, by entity and name.
    public func list() async throws -> [String] {
        let graph = try await CoreDataGraph(format, in: database)
        let objects = graph.objects.values.sorted {
            ($0.entity, $0.recordID.recordName) < ($1.entity, $1.recordID.recordName)
        }
        return objects.map { object in
            let values = object.values.map { "\($0.key)=\(Self.text($0.value))" }
            let links = object.links.map { "\($0.key)=\($0.value)" }
            return ([object.entity, object.recordID.recordName] + (values + links).sorted())
                .joined(separator: " ")
        } + graph.problems.values.sorted()
    }

    /// Adds an object, and returns the name of its record.
    public func add(_ entity: String, _ properties: [String: String]) async throws -> String {
        let record = try format.record(of: entity, [:])
        try set(properties, of: entity, in: record)
        return try await database.save(record).recordID.recordName
    }

    /// Changes properties of an object; others stay as they are.
    public func set(_ name: String, _ properties: [String: String]) async throws {
        let zoneID = CKRecordZone.ID(zoneName: CoreDataFormat.zoneName)
        let id = CKRecord.ID(recordName: name, zoneID: zoneID)
        let record = try await database.record(for: id)
        guard let object = try format.object(record) else {
            throw Problem(description: "\(name) is a link, which has no properties")
        }
        try set(properties, of: object.entity, in: record)
        _ = try await database.save(record)
    }

    /// Sets attributes from their texts, and to-one relationships from the names of records.
    private func set(
        _ properties: [String: String],
        of entity: String,
        in record: CKRecord
    ) throws {
        let found = format.model.entity(named: entity)
        let attributes = found.map(format.model.attributes(of:)) ?? []
        var values: [String: CoreDataValue?] = [:]
        var links: [String: String?] = [:]
        for (name, text) in properties {
            if let attribute = attributes.first(where: { $0.name == name }) {
                guard let value = Self.value(text, attribute.type) else {
                    throw Problem(description: "\(name) cannot be '\(text)'")
                }
                values[name] = value
            } else {
                links[name] = text
            }
        }
        try format.set(values, links: links, in: record)
    }

    private static func value(
        _ text: String,
        _ type: CoreDataModel.AttributeType
    ) -> CoreDataValue? {
        switch type {
        case .integer16, .integer32, .integer64: Int64(text).map(CoreDataValue.integer)
        case .double, .float: Double(text).map(CoreDataValue.double)
        case .decimal: Decimal(string: text).map(CoreDataValue.decimal)
        case .boolean: Bool(text).map(CoreDataValue.boolean)
        // Another form of date is no value.
        case .date: (try? Date(text, strategy: .iso8601)).map(CoreDataValue.date)
        case .uuid: UUID(uuidString: text).map(CoreDataValue.uuid)
        case .uri: .uri(text)
        case .binary, .transformable: .bytes(Data(text.utf8))
        default: .string(text)
        }
    }

    private static func text(_ value: CoreDataValue) -> String {
        switch value {
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .string(let text), .uri(let text): text
        case .boolean(let flag): "\(flag)"
        case .date(let date): date.formatted(.iso8601)
        case .bytes(let data): "\(data.count) bytes"
        case .uuid(let uuid): uuid.uuidString
        }
    }

    /// An error in what the user typed.
    public struct Problem: Error, CustomStringConvertible {
        /// The error in words.
        public var description: String
    }
}
