/// The path of a request: `/database/1/{container}/{environment}/{database}/{endpoint}`.
///
/// The endpoints `tokens/…` are found at `/device/1/{container}/{environment}/{endpoint}`.
public struct ServicePath: Hashable, Sendable {
    /// The container, such as `iCloud.com.example.app`.
    public var container: String
    /// Development or production.
    public var environment: ServiceEnvironment
    /// Public, private or shared.
    public var database: DatabaseScope
    /// What is asked; kept as text, so that an unknown one can be named in the error.
    public var endpoint: String

    /// Makes a path.
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

    /// Reads a path without its query; nil when it is not one of the service.
    public init?(_ path: String) {
        // Bytes, not characters: to find the bounds of characters takes far longer.
        var parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        if parts.count > 4, parts[0] == "device", parts[4] == "tokens" {
            // These paths name no database; anyone may ask for a token who may ask the public one.
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
    /// The path as it is requested, with a leading slash.
    public var description: String {
        "/database/1/\(container)/\(environment.rawValue)/\(database.rawValue)/\(endpoint)"
    }
}
