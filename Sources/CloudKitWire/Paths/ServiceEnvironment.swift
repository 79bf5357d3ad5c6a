/// Which of a container's two worlds a request is about, as it stands in the path.
public enum ServiceEnvironment: String, Hashable, Sendable, Codable, CaseIterable {
    /// Types and fields appear as they are used.
    case development
    /// Only the deployed schema holds.
    case production
}
