import CloudKitWire
public import Foundation

/// The contents of a subscription's notifications.
///
/// Apps write `CKSubscription.NotificationInfo`.
open class CKNotificationInfo: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because apps fill in the contents before they hand them over.

    /// The alert's text.
    open var alertBody: String?
    /// The key of the alert's text in the app's tables.
    open var alertLocalizationKey: String?
    /// The fields whose values fill in the alert's text.
    public var alertLocalizationArgs: [CKRecord.FieldKey]?
    /// The title.
    open var title: String?
    /// The key of the title in the app's tables.
    open var titleLocalizationKey: String?
    /// The fields whose values fill in the title.
    public var titleLocalizationArgs: [CKRecord.FieldKey]?
    /// The line below the title.
    open var subtitle: String?
    /// The key of the line below the title in the app's tables.
    open var subtitleLocalizationKey: String?
    /// The fields whose values fill in the line below the title.
    public var subtitleLocalizationArgs: [CKRecord.FieldKey]?
    /// The key of the alert's button in the app's tables.
    open var alertActionLocalizationKey: String?
    /// The name of an image of the app.
    open var alertLaunchImage: String?
    /// The name of a sound of the app.
    open var soundName: String?
    /// The fields that the notification carries.
    public var desiredKeys: [CKRecord.FieldKey]?
    /// A Boolean value that indicates whether notifications increment the app's badge.
    open var shouldBadge: Bool = false
    /// A Boolean value that indicates whether notifications wake the app in the background.
    open var shouldSendContentAvailable: Bool = false
    /// A Boolean value that indicates whether an extension of the app may change notifications.
    open var shouldSendMutableContent: Bool = false
    /// The kind of notification, which chooses its buttons.
    open var category: String?
    /// The key by which a later notification replaces an earlier one.
    open var collapseIDKey: String?

    /// Creates empty contents.
    public override init() {}

    /// Creates contents with the given values.
    public convenience init(
        alertBody: String? = nil,
        alertLocalizationKey: String? = nil,
        alertLocalizationArgs: [CKRecord.FieldKey] = [],
        title: String? = nil,
        titleLocalizationKey: String? = nil,
        titleLocalizationArgs: [CKRecord.FieldKey] = [],
        subtitle: String? = nil,
        subtitleLocalizationKey: String? = nil,
        subtitleLocalizationArgs: [CKRecord.FieldKey] = [],
        alertActionLocalizationKey: String? = nil,
        alertLaunchImage: String? = nil,
        soundName: String? = nil,
        desiredKeys: [CKRecord.FieldKey] = [],
        shouldBadge: Bool = false,
        shouldSendContentAvailable: Bool = false,
        shouldSendMutableContent: Bool = false,
        category: String? = nil,
        collapseIDKey: String? = nil
    ) {
        self.init()
        self.alertBody = alertBody
        self.alertLocalizationKey = alertLocalizationKey
        self.alertLocalizationArgs = alertLocalizationArgs
        self.title = title
        self.titleLocalizationKey = titleLocalizationKey
        self.titleLocalizationArgs = titleLocalizationArgs
        self.subtitle = subtitle
        self.subtitleLocalizationKey = subtitleLocalizationKey
        self.subtitleLocalizationArgs = subtitleLocalizationArgs
        self.alertActionLocalizationKey = alertActionLocalizationKey
        self.alertLaunchImage = alertLaunchImage
        self.soundName = soundName
        self.desiredKeys = desiredKeys
        self.shouldBadge = shouldBadge
        self.shouldSendContentAvailable = shouldSendContentAvailable
        self.shouldSendMutableContent = shouldSendMutableContent
        self.category = category
        self.collapseIDKey = collapseIDKey
    }

    /// Returns an independent copy with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKNotificationInfo(wire)
    }

    /// A Boolean value that indicates whether the class supports secure coding; always `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Encodes all values.
    open func encode(with coder: NSCoder) {
        // Texts and Boolean values can always be encoded.
        guard let data = try? JSONEncoder().encode(wire) else { return }
        coder.encode(data as NSData, forKey: "swift-cloudkit.notificationInfo")
    }

    /// Creates contents from an archive; missing values are the defaults.
    public required init?(coder: NSCoder) {
        let coder = coder.checked
        super.init()
        guard let data = coder.bytes(forKey: "swift-cloudkit.notificationInfo") else { return }
        // Apple's decoders return nil for a damaged archive.
        guard let wire = try? JSONDecoder().decode(WireNotificationInfo.self, from: data) else {
            return nil
        }
        take(wire)
    }
}
