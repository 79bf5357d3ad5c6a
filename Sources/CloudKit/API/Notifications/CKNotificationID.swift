public import Foundation

/// The identity of a notification.
///
/// Apps write `CKNotification.ID`.
open class CKNotificationID: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because the stored property is a constant.

    private let name: String

    init(_ name: String) {
        self.name = name
    }

    /// Whether both stand for the same notification.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKNotificationID)?.name == name
    }

    /// A hash of the identity.
    open override var hash: Int { name.hashValue }

    /// The identity itself, which cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: an archived identity can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the identity.
    open func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "NotificationID")
    }

    /// Reads an identity; nil when there is none.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let name = coder.string(forKey: "NotificationID") else { return nil }
        self.name = name
    }

    /// The identity's text.
    open override var description: String { name }
}
