import ArgumentParser
import CloudKitWebClient

/// The access to shared records, as arguments name it.
enum ShareAccess: String, ExpressibleByArgument, CaseIterable {
    case none
    case readOnly = "read-only"
    case readWrite = "read-write"

    /// The permission of the service.
    var permission: WireParticipant.Permission {
        switch self {
        case .none: .none
        case .readOnly: .readOnly
        case .readWrite: .readWrite
        }
    }

    /// Returns a permission as text for people; empty for an unknown one.
    static func text(_ permission: WireParticipant.Permission?) -> String {
        allCases.first { $0.permission == permission }?.rawValue ?? ""
    }
}
