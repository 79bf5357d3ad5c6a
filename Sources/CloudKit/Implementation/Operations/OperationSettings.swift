import CloudKitFiles
import Foundation

/// The values that a configuration sets; nil falls back to the next settings in line.
struct OperationSettings: Sendable {
    /// A week, as on Apple platforms.
    static let defaultResourceTimeout: TimeInterval = 7 * 24 * 60 * 60

    var container: CKContainer?
    var qualityOfService: QualityOfService?
    var allowsCellularAccess: Bool?
    var isLongLived: Bool?
    var requestTimeout: TimeInterval?
    var resourceTimeout: TimeInterval?
    /// The files that downloads become; nil for those of the process.
    var files: PrivateFiles?

    /// Returns these settings, with unset values filled from `other`.
    func filled(from other: OperationSettings) -> OperationSettings {
        OperationSettings(
            container: container ?? other.container,
            qualityOfService: qualityOfService ?? other.qualityOfService,
            allowsCellularAccess: allowsCellularAccess ?? other.allowsCellularAccess,
            isLongLived: isLongLived ?? other.isLongLived,
            requestTimeout: Self.limit(requestTimeout) ?? other.requestTimeout,
            resourceTimeout: Self.limit(resourceTimeout) ?? other.resourceTimeout,
            files: files ?? other.files
        )
    }

    /// The settings of an operation's requests.
    var requests: RequestSettings {
        RequestSettings(
            timeout: Self.limit(requestTimeout) ?? RequestSettings.defaultTimeout,
            isPatient: qualityOfService == .utility || qualityOfService == .background,
            files: files ?? .shared
        )
    }

    /// The settings of the requests of a database's or a container's method: one that retries
    /// patiently ends when an operation would.
    var callRequests: RequestSettings {
        var requests = requests
        requests.callTimeout = requests.isPatient ? deadline : Self.limit(resourceTimeout)
        return requests
    }

    /// Returns a limit in seconds; nil, for the default, if it is unset, zero, negative or not a
    /// number.
    private static func limit(_ seconds: TimeInterval?) -> TimeInterval? {
        guard let seconds, seconds > 0 else { return nil }
        return seconds
    }

    /// The number of seconds for the whole operation; nil for no limit, as urgent operations have.
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
