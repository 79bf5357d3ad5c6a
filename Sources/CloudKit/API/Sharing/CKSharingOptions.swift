public import Foundation

/// Who may be let in by the window that shares something.
public struct CKSharingParticipantAccessOption: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes options from their bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Everyone with the link.
    public static var anyoneWithLink: CKSharingParticipantAccessOption {
        CKSharingParticipantAccessOption(rawValue: 1 << 0)
    }
    /// Who is invited.
    public static var specifiedRecipientsOnly: CKSharingParticipantAccessOption {
        CKSharingParticipantAccessOption(rawValue: 1 << 1)
    }
    /// Both.
    public static var any: CKSharingParticipantAccessOption {
        [.anyoneWithLink, .specifiedRecipientsOnly]
    }
}

/// What may be allowed by the window that shares something.
public struct CKSharingParticipantPermissionOption: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes options from their bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// To see.
    public static var readOnly: CKSharingParticipantPermissionOption {
        CKSharingParticipantPermissionOption(rawValue: 1 << 0)
    }
    /// To see and change.
    public static var readWrite: CKSharingParticipantPermissionOption {
        CKSharingParticipantPermissionOption(rawValue: 1 << 1)
    }
    /// Both.
    public static var any: CKSharingParticipantPermissionOption { [.readOnly, .readWrite] }
}

/// What a window that shares something offers.
///
/// There is no such window here; the type lets code compile that prepares one.
open class CKAllowedSharingOptions: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because apps fill one in before they hand it over.

    /// What may be allowed.
    open var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption

    /// Who may be let in.
    open var allowedParticipantAccessOptions: CKSharingParticipantAccessOption

    /// Everything.
    open class var standard: CKAllowedSharingOptions {
        CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: .any,
            allowedParticipantAccessOptions: .any
        )
    }

    /// Makes options.
    public init(
        allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption,
        allowedParticipantAccessOptions: CKSharingParticipantAccessOption
    ) {
        self.allowedParticipantPermissionOptions = allowedParticipantPermissionOptions
        self.allowedParticipantAccessOptions = allowedParticipantAccessOptions
    }

    /// Independent options with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: allowedParticipantPermissionOptions,
            allowedParticipantAccessOptions: allowedParticipantAccessOptions
        )
    }

    /// True: archived options can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the options.
    open func encode(with coder: NSCoder) {
        coder.encode(
            Int64(allowedParticipantPermissionOptions.rawValue),
            forKey: "AllowedParticipantPermissionOptions"
        )
        coder.encode(
            Int64(allowedParticipantAccessOptions.rawValue),
            forKey: "AllowedParticipantAccessOptions"
        )
    }

    /// Reads options; what is missing is not allowed.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        func bits(_ key: String) -> UInt { UInt(clamping: coder.integer(forKey: key) ?? 0) }
        allowedParticipantPermissionOptions = .init(
            rawValue: bits("AllowedParticipantPermissionOptions")
        )
        allowedParticipantAccessOptions = .init(rawValue: bits("AllowedParticipantAccessOptions"))
    }
}
