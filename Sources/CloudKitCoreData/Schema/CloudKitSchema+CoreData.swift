public import CloudKitCodable

extension CloudKitSchema {
    /// Creates the record types of a Core Data or SwiftData model, as Core Data's full schema
    /// initialization does: with the fields for large values, links and moves between zones, the
    /// record type of links, and CloudKit's own types.
    ///
    /// ```swift
    /// let model = try CoreDataModelVersions(contentsOf: url).current
    /// print(try CloudKitSchema(mirroring: model).text)
    /// ```
    ///
    /// An import replaces the whole development schema: your own types must be in the file too.
    ///
    /// - Throws: ``CoreDataModelError`` with all properties that need the same field in different ways.
    public init(
        mirroring model: CoreDataModel,
        _ mirroring: CoreDataMirroring = CoreDataMirroring()
    ) throws(CoreDataModelError) {
        let schema = try MirroredSchema(model, mirroring)
        guard schema.conflicts.isEmpty else {
            throw CoreDataModelError(
                .inconsistent,
                schema.conflicts.map { $0.message + "; rename one" }.joined(separator: "\n")
            )
        }
        self.init(
            recordTypes: schema.types.values.sorted { $0.name < $1.name }.map { type in
                RecordType(name: type.name, fields: type.sortedFields.map(\.field))
            }
        )
    }
}
