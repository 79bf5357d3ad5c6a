public import CloudKit
public import CloudKitStore
public import GRDB

extension CloudStore {
    /// Prepares a database for sync with an app that keeps its objects with Core Data or SwiftData.
    ///
    /// The database has the tables of ``CoreDataTables``, made by a conversion or by
    /// ``CoreDataTables/create(in:)``. The store reads and writes the app's records in the app's zone, whatever zone
    /// the configuration names, and in the zones in which the app shares objects; in those that others share with the
    /// user where the configuration includes shared rows. It changes no field that the model does not have.
    ///
    /// Of a converted database, edits and deletions that the app had not sent are sent with the first sync.
    ///
    /// - Parameters:
    ///   - database: The database, opened by the app.
    ///   - container: The container; rows go into its private database.
    ///   - format: The format of the model.
    ///   - configuration: The settings of the store, apart from its tables and its zone.
    /// - Throws: A ``CoreDataRecordError`` that names the composites, unless the format keeps them on the device; a
    ///   ``CloudStoreError`` for a table that cannot be synced, or for converted rows of a zone that another user
    ///   shares if the configuration excludes shared rows; or an error of the database.
    public convenience init(
        database: any DatabaseWriter,
        container: CKContainer,
        format: CoreDataFormat,
        configuration: Configuration = Configuration()
    ) throws {
        try format.checkComposites()
        var configuration = configuration
        configuration.zoneName = CoreDataFormat.zoneName
        configuration.shareZonePrefix = CoreDataFormat.shareZonePrefix
        try self.init(
            database: database,
            container: container,
            tables: format.tables,
            configuration: configuration
        )
        for (zoneID, keys) in try StoreRecordTables.sharedRows(of: database) {
            try place(keys, in: zoneID)
        }
        let includesShared = configuration.includesSharedRows
        try adopt { try StoreRecordTables.takeChanges(in: $0, includesShared: includesShared) }
    }
}
