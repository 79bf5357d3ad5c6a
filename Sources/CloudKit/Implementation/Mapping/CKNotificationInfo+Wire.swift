import CloudKitWire

extension CKNotificationInfo {
    /// Creates contents from the wire's form.
    convenience init(_ wire: WireNotificationInfo) {
        self.init()
        take(wire)
    }

    /// Copies all values of the wire's form.
    func take(_ wire: WireNotificationInfo) {
        alertBody = wire.alertBody
        alertLocalizationKey = wire.alertLocalizationKey
        alertLocalizationArgs = wire.alertLocalizationArgs
        title = wire.title
        titleLocalizationKey = wire.titleLocalizationKey
        titleLocalizationArgs = wire.titleLocalizationArgs
        subtitle = wire.subtitle
        subtitleLocalizationKey = wire.subtitleLocalizationKey
        subtitleLocalizationArgs = wire.subtitleLocalizationArgs
        alertActionLocalizationKey = wire.alertActionLocalizationKey
        alertLaunchImage = wire.alertLaunchImage
        soundName = wire.soundName
        desiredKeys = wire.additionalFields
        shouldBadge = wire.shouldBadge ?? false
        shouldSendContentAvailable = wire.shouldSendContentAvailable ?? false
        shouldSendMutableContent = wire.shouldSendMutableContent ?? false
        category = wire.category
        collapseIDKey = wire.collapseIDKey
    }

    /// The wire's form, without default values.
    var wire: WireNotificationInfo {
        var wire = WireNotificationInfo()
        wire.alertBody = alertBody
        wire.alertLocalizationKey = alertLocalizationKey
        wire.alertLocalizationArgs = alertLocalizationArgs.filled
        wire.title = title
        wire.titleLocalizationKey = titleLocalizationKey
        wire.titleLocalizationArgs = titleLocalizationArgs.filled
        wire.subtitle = subtitle
        wire.subtitleLocalizationKey = subtitleLocalizationKey
        wire.subtitleLocalizationArgs = subtitleLocalizationArgs.filled
        wire.alertActionLocalizationKey = alertActionLocalizationKey
        wire.alertLaunchImage = alertLaunchImage
        wire.soundName = soundName
        wire.additionalFields = desiredKeys.filled
        wire.shouldBadge = shouldBadge ? true : nil
        wire.shouldSendContentAvailable = shouldSendContentAvailable ? true : nil
        wire.shouldSendMutableContent = shouldSendMutableContent ? true : nil
        wire.category = category
        wire.collapseIDKey = collapseIDKey
        return wire
    }
}

extension [String]? {
    /// The list, or nil if it is empty.
    fileprivate var filled: [String]? {
        if let self, !self.isEmpty { self } else { nil }
    }
}
