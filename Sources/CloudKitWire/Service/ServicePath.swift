/// The path of a request: `/database/1/{container}/{environment}/{database}/{endpoint}`.
///
/// The path of the endpoints `tokens/…` is `/device/1/{container}/{environment}/{endpoint}`.
public struct ServicePath: Hashable, Sendable {
    /// The container, such as `iCloud.com.example.app`.
    public var container: String
    /// The environment, development or production.
    public var environment: ServiceEnvironment
    /// The database, public, private or shared.
    public var database: DatabaseScope
    /// The endpoint; stored as text, because an error names an unknown one.
    public var endpoint: String

    /// Creates a path.
    public init(
        container: String,
        environment: ServiceEnvironment,
        database: DatabaseScope,
        endpoint: Endpoint
    ) {
        self.container = container
        self.environment = environment
        self.database = database
        self.endpoint = endpoint.rawValue
    }

    /// Creates a path by parsing one without its query; nil if it is not one of the service.
    public init?(_ path: String) {
        // Splits bytes, because finding the bounds of characters takes far longer.
        var parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        if parts.count > 4, parts[0] == "device", parts[4] == "tokens" {
            // These paths name no database; whoever may query the public one may request a token.
            parts[0] = "database"
            parts.insert("public", at: 4)
        }
        guard parts.count >= 6, parts[0] == "database", parts[1] == "1",
            let environment = ServiceEnvironment(rawValue: parts[3]),
            let database = DatabaseScope(rawValue: parts[4])
        else { return nil }
        container = parts[2]
        self.environment = environment
        self.database = database
        endpoint = parts[5...].joined(separator: "/")
    }
}

extension ServicePath: CustomStringConvertible {
    /// The path of a request, with a leading slash.
    public var description: String {
        "/database/1/\(container)/\(environment.rawValue)/\(database.rawValue)/\(endpoint)"
    }
}

/// The kinds of databases in a container, as in the path of a request.
public enum DatabaseScope: String, Hashable, Sendable, Codable, CaseIterable {
    /// The public database, one for all users.
    case `public`
    /// The private database, one for each user.
    case `private`
    /// The shared database, with the zones and records that others share with the user.
    case shared

    /// Decodes a database; the error for another text names all.
    public init(from decoder: any Decoder) throws { self = try .oneOfAll(decoder) }
}

/// The environments of a container, as in the path of a request.
public enum ServiceEnvironment: String, Hashable, Sendable, Codable, CaseIterable {
    /// The environment in which saves create types and fields.
    case development
    /// The environment that accepts the deployed schema only.
    case production

    /// Decodes an environment; the error for another text names both.
    public init(from decoder: any Decoder) throws { self = try .oneOfAll(decoder) }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    fileprivate static func oneOfAll(_ decoder: any Decoder) throws -> Self {
        let text = try decoder.singleValueContainer().decode(String.self)
        if let value = Self(rawValue: text) { return value }
        let names = allCases.map(\.rawValue)
        throw DecodingError.dataCorrupted(
            .init(
                codingPath: decoder.codingPath,
                debugDescription: "'\(text)' is none of \(names.joined(separator: ", "))"
            )
        )
    }
}
