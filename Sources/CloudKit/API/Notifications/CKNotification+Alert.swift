import CloudKitWire
public import Foundation

// The contents of the alert, which apps get from UserNotifications on Apple platforms.
extension CKNotification {
    /// The alert's text.
    public var alertBody: String? { payload.alert(.body) }

    /// The key of the alert's text in the app's tables.
    public var alertLocalizationKey: String? { payload.alert(.bodyKey) }

    /// The values that fill in the alert's text.
    public var alertLocalizationArgs: [String]? { payload.alertList(.bodyArguments) }

    /// The title.
    public var title: String? { payload.alert(.title) }

    /// The key of the title in the app's tables.
    public var titleLocalizationKey: String? { payload.alert(.titleKey) }

    /// The values that fill in the title.
    public var titleLocalizationArgs: [String]? { payload.alertList(.titleArguments) }

    /// The line below the title.
    public var subtitle: String? { payload.alert(.subtitle) }

    /// The key of the line below the title in the app's tables.
    public var subtitleLocalizationKey: String? { payload.alert(.subtitleKey) }

    /// The values that fill in the line below the title.
    public var subtitleLocalizationArgs: [String]? { payload.alertList(.subtitleArguments) }

    /// The key of the alert's button in the app's tables.
    public var alertActionLocalizationKey: String? { payload.alert(.actionKey) }

    /// The name of an image of the app.
    public var alertLaunchImage: String? { payload.alert(.launchImage) }

    /// The number on the app's icon.
    public var badge: NSNumber? { payload.value(.badge) as? NSNumber }

    /// The name of a sound of the app.
    public var soundName: String? { payload.value(.sound) as? String }

    /// The kind of notification, which chooses its buttons.
    public var category: String? { payload.value(.category) as? String }
}
