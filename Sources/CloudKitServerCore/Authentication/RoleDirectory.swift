#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The roles that an environment's users have in its schema.
struct RoleDirectory {
    let environment: RowID<StoredEnvironment>

    private var collection: String { "role/\(environment.rawValue)" }

    /// Returns the roles of a user.
    func roles(of user: RowID<StoredUser>, _ reader: any StorageReader) throws -> Set<String> {
        let body = try reader.document(collection, String(user.rawValue))
        // Damaged roles grant nothing.
        return body.flatMap { try? JSONDecoder().decode(Set<String>.self, from: $0) } ?? []
    }

    /// Takes all roles but some from their users: those that the schema no longer has.
    func keep(_ known: Set<String>, _ writer: any StorageWriter) throws {
        for document in try writer.documents(collection) {
            guard let user = Int64(document.name).map(RowID<StoredUser>.init(rawValue:)) else {
                continue
            }
            let roles = try roles(of: user, writer)
            guard !roles.isSubset(of: known) else { continue }
            try setRoles(roles.intersection(known), of: user, writer)
        }
    }

    /// Replaces the roles of a user.
    func setRoles(
        _ roles: Set<String>,
        of user: RowID<StoredUser>,
        _ writer: any StorageWriter
    ) throws {
        let name = String(user.rawValue)
        if roles.isEmpty {
            try writer.removeDocument(collection, name)
        } else {
            let body = try JSONEncoder().encode(roles.sorted())
            try writer.putDocument(collection, StoredDocument(name: name, body: body))
        }
    }
}
