/// The storage quota of a database.
struct StorageQuota {
    /// The limit in bytes; nil for no limit.
    private let limit: Int64?
    private let database: StoredDatabase

    init(_ configuration: ServiceConfiguration, of database: StoredDatabase) {
        self.database = database
        limit =
            database.owner == nil
            ? configuration.publicQuotaBytes : configuration.userQuotaBytes
    }

    /// Returns the number of bytes that one zone may grow to, in addition to the other zones' bytes.
    func limit(of zone: StoredZone, _ reader: any StorageReader) throws -> Int64? {
        guard let limit else { return nil }
        let others = try reader.zones(database.id).filter { $0.id != zone.id }
        // Uploads that no record has taken over yet count too.
        let waiting = try UploadDirectory(database: database.id).bytes(reader)
        return limit - waiting - others.reduce(0) { $0 + $1.bytes }
    }

    /// Returns the number of bytes that the database has room for; nil for no limit.
    func room(_ reader: any StorageReader) throws -> Int64? {
        guard let limit else { return nil }
        let waiting = try UploadDirectory(database: database.id).bytes(reader)
        return try limit - waiting - reader.zones(database.id).reduce(0) { $0 + $1.bytes }
    }
}
