import CloudKitWire

/// The rows of a container: its environments, its users, and their databases.
struct ContainerDirectory: Sendable {
    /// The container's identifier.
    let container: String

    init(_ container: String) { self.container = container }

    /// Returns an environment.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for a container that does not exist.
    func environment(
        _ kind: ServiceEnvironment,
        _ reader: any StorageReader
    ) throws -> StoredEnvironment {
        guard let row = try reader.environment(container: container, kind) else {
            throw RequestError(.notFound, reason: "No container \(container)")
        }
        return row
    }

    /// Returns all environments.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for a container that does not exist.
    func environments(_ reader: any StorageReader) throws -> [StoredEnvironment] {
        try ServiceEnvironment.allCases.map { try environment($0, reader) }
    }

    /// Creates the container with both environments, unless it exists.
    ///
    /// - Throws: `RequestError` with `BAD_REQUEST` for an identifier that no container has.
    func add(incarnation: Int64, _ writer: any StorageWriter) throws {
        for kind in ServiceEnvironment.allCases
        where try writer.environment(container: container, kind) == nil {
            if let reason = NameRules.container(container) {
                throw RequestError(.badRequest, reason: reason)
            }
            let environment = try writer.addEnvironment(container: container, kind)
            try IndexForm(environment: environment.id).setCurrent(writer)
            try Self.addDatabase(environment, owner: nil, incarnation: incarnation, writer)
        }
    }

    /// Returns the row of a user.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for a user who does not exist.
    func user(_ recordName: String, _ reader: any StorageReader) throws -> StoredUser {
        guard let user = try reader.user(container: container, recordName: recordName) else {
            throw RequestError(.notFound, reason: "No user \(recordName)")
        }
        return user
    }

    /// Adds a user with its private databases; the argument's row ID is ignored.
    func addUser(
        _ user: StoredUser,
        incarnation: Int64,
        _ writer: any StorageWriter
    ) throws -> StoredUser {
        let user = try writer.addUser(user)
        for environment in try environments(writer) {
            try Self.addDatabase(environment, owner: user.id, incarnation: incarnation, writer)
        }
        return user
    }

    private static func addDatabase(
        _ environment: StoredEnvironment,
        owner: RowID<StoredUser>?,
        incarnation: Int64,
        _ writer: any StorageWriter
    ) throws {
        let database = try writer.addDatabase(
            environment.id,
            owner: owner,
            incarnation: incarnation
        )
        try addDefaultZone(to: database, writer)
    }

    /// Adds the default zone, which every database has from the start; its numbers go on above those
    /// of the database.
    static func addDefaultZone(
        to database: StoredDatabase,
        _ writer: any StorageWriter
    ) throws {
        _ = try writer.addZone(
            StoredZone(
                id: RowID(rawValue: 0),
                database: database.id,
                name: WireZoneID.defaultZoneName,
                incarnation: 1,
                headSequence: database.headSequence,
                changeSequence: 0,
                isDeleted: false
            )
        )
    }
}
