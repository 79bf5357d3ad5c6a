public import CloudKitCodable

extension CloudKitSchema {
    /// The record types of a Core Data or SwiftData model, complete as its full initialization makes
    /// them: with the fields of large values, of links and of moves between zones, the type of links,
    /// and CloudKit's own types.
    ///
    /// ```swift
    /// let model = try CoreDataModelVersions(contentsOf: url).current
    /// print(try CloudKitSchema(mirroring: model).text)
    /// ```
    ///
    /// An import replaces the whole schema of development: types of your own must be in the file too.
    ///
    /// - Throws: ``CoreDataModelError`` with all properties that need one field in different ways.
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
