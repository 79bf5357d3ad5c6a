/// The environments of a container, as in the path of a request.
public enum ServiceEnvironment: String, Hashable, Sendable, Codable, CaseIterable {
    /// The environment in which saves create types and fields.
    case development
    /// The environment that accepts the deployed schema only.
    case production
}
