public import Foundation

/// The ID of a notification.
///
/// Apps write `CKNotification.ID`.
open class CKNotificationID: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because the stored property is a constant.

    private let name: String

    init(_ name: String) {
        self.name = name
    }

    /// Returns whether both IDs name the same notification.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? CKNotificationID)?.name == name
    }

    /// A hash of the ID.
    open override var hash: Int { name.hashValue }

    /// Returns the ID itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes the ID.
    open func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "NotificationID")
    }

    /// Creates an ID from an archive; nil when there is none.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        guard let name = coder.string(forKey: "NotificationID") else { return nil }
        self.name = name
    }

    /// The ID's text.
    open override var description: String { name }
}
