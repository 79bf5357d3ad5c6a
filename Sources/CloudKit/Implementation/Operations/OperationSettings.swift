import Foundation

/// What a configuration sets; nil leaves the choice to the next one in line.
struct OperationSettings: Sendable {
    static let defaultRequestTimeout: TimeInterval = 60
    /// A week, as on Apple platforms.
    static let defaultResourceTimeout: TimeInterval = 7 * 24 * 60 * 60

    var container: CKContainer?
    var qualityOfService: QualityOfService?
    var allowsCellularAccess: Bool?
    var isLongLived: Bool?
    var requestTimeout: TimeInterval?
    var resourceTimeout: TimeInterval?

    /// These settings, and for what they leave open, those of `other`.
    func filled(from other: OperationSettings) -> OperationSettings {
        OperationSettings(
            container: container ?? other.container,
            qualityOfService: qualityOfService ?? other.qualityOfService,
            allowsCellularAccess: allowsCellularAccess ?? other.allowsCellularAccess,
            isLongLived: isLongLived ?? other.isLongLived,
            requestTimeout: Self.limit(requestTimeout) ?? other.requestTimeout,
            resourceTimeout: Self.limit(resourceTimeout) ?? other.resourceTimeout
        )
    }

    /// What the settings mean for the requests of an operation.
    var requests: RequestSettings {
        RequestSettings(
            timeout: Self.limit(requestTimeout) ?? Self.defaultRequestTimeout,
            isPatient: qualityOfService == .utility || qualityOfService == .background
        )
    }

    /// What the settings mean for the requests of a database's or a container's method: one that is
    /// patient ends when an operation would.
    var callRequests: RequestSettings {
        var requests = requests
        requests.callTimeout = requests.isPatient ? deadline : Self.limit(resourceTimeout)
        return requests
    }

    /// Seconds that are a limit; no time, less than that, and what is no number stand for the default.
    private static func limit(_ seconds: TimeInterval?) -> TimeInterval? {
        guard let seconds, seconds > 0 else { return nil }
        return seconds
    }

    /// Seconds for the whole operation; nil for no limit, which is what urgent operations have.
    var deadline: TimeInterval? {
        let resourceTimeout = Self.limit(resourceTimeout)
        return switch qualityOfService ?? .default {
        case .userInteractive, .userInitiated: resourceTimeout
        default: resourceTimeout ?? Self.defaultResourceTimeout
        }
    }

    var taskPriority: TaskPriority {
        switch qualityOfService ?? .default {
        case .userInteractive, .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        default: .medium
        }
    }
}

/// How the requests of one call go out.
struct RequestSettings: Sendable {
    /// Seconds to wait for an answer.
    var timeout: TimeInterval = OperationSettings.defaultRequestTimeout
    /// Whether a request that found no server, or a busy one, is repeated instead of failing.
    var isPatient = false
    /// Seconds for the whole call of a method, nil for no limit; an operation watches over its own.
    var callTimeout: TimeInterval?
    /// The name under which the service knows who changed something; nil for the container's.
    var clientID: String?
}
