public import Foundation

// The contents of the alert, which apps get from UserNotifications on Apple platforms.
extension CKNotification {
    /// The alert's text.
    public var alertBody: String? { payload.alert("body") }

    /// The key of the alert's text in the app's tables.
    public var alertLocalizationKey: String? { payload.alert("loc-key") }

    /// The values that fill in the alert's text.
    public var alertLocalizationArgs: [String]? { payload.alertList("loc-args") }

    /// The title.
    public var title: String? { payload.alert("title") }

    /// The key of the title in the app's tables.
    public var titleLocalizationKey: String? { payload.alert("title-loc-key") }

    /// The values that fill in the title.
    public var titleLocalizationArgs: [String]? { payload.alertList("title-loc-args") }

    /// The line below the title.
    public var subtitle: String? { payload.alert("subtitle") }

    /// The key of the line below the title in the app's tables.
    public var subtitleLocalizationKey: String? { payload.alert("subtitle-loc-key") }

    /// The values that fill in the line below the title.
    public var subtitleLocalizationArgs: [String]? { payload.alertList("subtitle-loc-args") }

    /// The key of the alert's button in the app's tables.
    public var alertActionLocalizationKey: String? { payload.alert("action-loc-key") }

    /// The name of an image of the app.
    public var alertLaunchImage: String? { payload.alert("launch-image") }

    /// The number on the app's icon.
    public var badge: NSNumber? { payload.aps["badge"] as? NSNumber }

    /// The name of a sound of the app.
    public var soundName: String? { payload.aps["sound"] as? String }

    /// The kind of notification, which chooses its buttons.
    public var category: String? { payload.aps["category"] as? String }
}
