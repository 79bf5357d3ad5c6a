import CloudKitFiles
import Foundation

/// The settings for the requests of one call.
struct RequestSettings: Sendable {
    static let defaultTimeout: TimeInterval = 60

    /// The number of seconds to wait for a response.
    var timeout: TimeInterval = defaultTimeout
    /// `true` when a request that found no server, or a busy one, is retried instead of failing.
    var isPatient = false
    /// The number of seconds for a method's whole call, nil for no limit; an operation enforces its
    /// own.
    var callTimeout: TimeInterval?
    /// The name by which the service recognises the author of a change; nil for the container's.
    var clientID: String?
    /// The files that downloads become.
    var files = PrivateFiles.shared
}
