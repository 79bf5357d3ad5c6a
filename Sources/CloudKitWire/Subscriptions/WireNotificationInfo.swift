/// The contents of a subscription's notifications ("Notification Info Dictionary" in Apple's
/// reference; the members from `title` on are those of the native API).
public struct WireNotificationInfo: Hashable, Sendable, Codable {
    /// The alert's text.
    public var alertBody: String?
    /// The key of the alert's text in the app's tables.
    public var alertLocalizationKey: String?
    /// The fields whose values fill in the alert's text.
    public var alertLocalizationArgs: [String]?
    /// The key of the alert's button in the app's tables.
    public var alertActionLocalizationKey: String?
    /// The name of an image of the app.
    public var alertLaunchImage: String?
    /// The name of a sound of the app.
    public var soundName: String?
    /// A Boolean value that indicates whether notifications increment the app's badge.
    public var shouldBadge: Bool?
    /// A Boolean value that indicates whether notifications wake the app in the background.
    public var shouldSendContentAvailable: Bool?
    /// The kind of notification, which chooses its buttons.
    public var category: String?
    /// The fields that the notification carries.
    public var additionalFields: [String]?
    /// The title.
    public var title: String?
    /// The key of the title in the app's tables.
    public var titleLocalizationKey: String?
    /// The fields whose values fill in the title.
    public var titleLocalizationArgs: [String]?
    /// The line below the title.
    public var subtitle: String?
    /// The key of the line below the title in the app's tables.
    public var subtitleLocalizationKey: String?
    /// The fields whose values fill in the line below the title.
    public var subtitleLocalizationArgs: [String]?
    /// A Boolean value that indicates whether an extension of the app may change notifications.
    public var shouldSendMutableContent: Bool?
    /// The key by which a later notification replaces an earlier one.
    public var collapseIDKey: String?

    /// Creates empty contents.
    public init() {}
}
