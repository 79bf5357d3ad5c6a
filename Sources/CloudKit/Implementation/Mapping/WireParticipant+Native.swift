import CloudKitWire

extension CKShare.ParticipantPermission {
    /// The wire's form.
    var wire: WireParticipant.Permission {
        switch self {
        case .none: .none
        case .readOnly: .readOnly
        case .readWrite: .readWrite
        case .unknown: .unknown
        }
    }
}

extension CKShare.ParticipantRole {
    /// The wire's form.
    var wire: WireParticipant.ParticipantType {
        switch self {
        case .owner: .owner
        case .administrator: .administrator
        case .privateUser: .user
        case .publicUser: .publicUser
        case .unknown: .unknown
        }
    }
}

extension CKShare.ParticipantAcceptanceStatus {
    /// The wire's form.
    var wire: WireParticipant.AcceptanceStatus {
        switch self {
        case .pending: .invited
        case .accepted: .accepted
        case .removed: .removed
        case .unknown: .unknown
        }
    }
}

extension WireParticipant.Permission {
    /// The API's form.
    var native: CKShare.ParticipantPermission {
        switch self {
        case .none: .none
        case .readOnly: .readOnly
        case .readWrite: .readWrite
        case .unknown: .unknown
        }
    }
}

extension WireParticipant.ParticipantType {
    /// The API's form.
    var native: CKShare.ParticipantRole {
        switch self {
        case .owner: .owner
        case .administrator: .administrator
        case .user: .privateUser
        case .publicUser: .publicUser
        case .unknown: .unknown
        }
    }
}

extension WireParticipant.AcceptanceStatus {
    /// The API's form.
    var native: CKShare.ParticipantAcceptanceStatus {
        switch self {
        case .invited, .pending: .pending
        case .accepted: .accepted
        case .removed: .removed
        case .unknown: .unknown
        }
    }
}
