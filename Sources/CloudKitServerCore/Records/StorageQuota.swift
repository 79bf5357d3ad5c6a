/// What the records and assets of a database may take.
struct StorageQuota {
    /// Bytes; nil for any number.
    private let limit: Int64?
    private let database: StoredDatabase

    init(_ configuration: ServiceConfiguration, of database: StoredDatabase) {
        self.database = database
        limit =
            database.owner == nil
            ? configuration.publicQuotaBytes : configuration.userQuotaBytes
    }

    /// Bytes that one zone may grow to, beside what the others take.
    func limit(of zone: StoredZone, _ reader: any StorageReader) throws -> Int64? {
        guard let limit else { return nil }
        let others = try reader.zones(database.id).filter { $0.id != zone.id }
        // What was uploaded and stands in no record yet counts too.
        let waiting = try UploadDirectory(database: database.id).bytes(reader)
        return limit - waiting - others.reduce(0) { $0 + $1.bytes }
    }

    /// Bytes that the database has room for; nil for any number.
    func room(_ reader: any StorageReader) throws -> Int64? {
        guard let limit else { return nil }
        let waiting = try UploadDirectory(database: database.id).bytes(reader)
        return try limit - waiting - reader.zones(database.id).reduce(0) { $0 + $1.bytes }
    }
}
