public import Foundation

/// The kinds of access that a sharing window can offer.
public struct CKSharingParticipantAccessOption: OptionSet, Sendable {
    /// The options as a bit mask.
    public let rawValue: UInt

    /// Creates options from a bit mask.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Access for everyone with the link.
    public static var anyoneWithLink: CKSharingParticipantAccessOption {
        CKSharingParticipantAccessOption(rawValue: 1 << 0)
    }
    /// Access for invited people only.
    public static var specifiedRecipientsOnly: CKSharingParticipantAccessOption {
        CKSharingParticipantAccessOption(rawValue: 1 << 1)
    }
    /// Both kinds of access.
    public static var any: CKSharingParticipantAccessOption {
        [.anyoneWithLink, .specifiedRecipientsOnly]
    }
}

/// The permissions that a sharing window can offer.
public struct CKSharingParticipantPermissionOption: OptionSet, Sendable {
    /// The options as a bit mask.
    public let rawValue: UInt

    /// Creates options from a bit mask.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Permission to read.
    public static var readOnly: CKSharingParticipantPermissionOption {
        CKSharingParticipantPermissionOption(rawValue: 1 << 0)
    }
    /// Permission to read and write.
    public static var readWrite: CKSharingParticipantPermissionOption {
        CKSharingParticipantPermissionOption(rawValue: 1 << 1)
    }
    /// Both permissions.
    public static var any: CKSharingParticipantPermissionOption { [.readOnly, .readWrite] }
}

/// The options that a sharing window offers.
///
/// There is no sharing window here; the type lets code that prepares one compile.
open class CKAllowedSharingOptions: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because apps fill in the options before they hand them over.

    /// The permissions to offer.
    open var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption

    /// The kinds of access to offer.
    open var allowedParticipantAccessOptions: CKSharingParticipantAccessOption

    /// Options that offer everything.
    open class var standard: CKAllowedSharingOptions {
        CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: .any,
            allowedParticipantAccessOptions: .any
        )
    }

    /// Creates options with permissions and kinds of access.
    public init(
        allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption,
        allowedParticipantAccessOptions: CKSharingParticipantAccessOption
    ) {
        self.allowedParticipantPermissionOptions = allowedParticipantPermissionOptions
        self.allowedParticipantAccessOptions = allowedParticipantAccessOptions
    }

    /// Returns an independent copy with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: allowedParticipantPermissionOptions,
            allowedParticipantAccessOptions: allowedParticipantAccessOptions
        )
    }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the options.
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

    /// Creates options from an archive; missing options are not offered.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        func bits(_ key: String) -> UInt { UInt(clamping: coder.integer(forKey: key) ?? 0) }
        allowedParticipantPermissionOptions = .init(
            rawValue: bits("AllowedParticipantPermissionOptions")
        )
        allowedParticipantAccessOptions = .init(rawValue: bits("AllowedParticipantAccessOptions"))
    }
}
