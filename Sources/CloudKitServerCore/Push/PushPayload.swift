import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A notification in the clients' format: `{"aps": {…}, "ck": {"cid": …, "qry" | "fet" | "met": {…}}}`.
///
/// Of the three kinds only `qry` has been observed with a web courier; the tests of native apps
/// read the others in the same way.
struct PushPayload {
    /// The subject of a notification.
    enum Subject {
        /// A record was changed.
        case record(RecordChange, fields: RecordFields)
        /// A zone changed.
        case zone
        /// The database changed.
        case database
    }

    /// The maximum size of a notification in bytes, the same as for Apple's push service.
    static let sizeLimit = 4096

    let subscription: WireSubscription
    let subject: Subject
    /// The identifier, the same for all notifications of one change.
    let identifier: String
    let container: String
    /// The user record name of the subscription's owner.
    let owner: String
    let scope: DatabaseScope
    let zone: WireZoneID

    private var info: WireNotificationInfo {
        subscription.notificationInfo ?? WireNotificationInfo()
    }

    /// `true` when the number on the app's icon increases.
    var countsBadge: Bool { info.shouldBadge == true }

    /// A key that the notification has in common with those that it replaces; nil if it replaces none.
    ///
    /// A notification about a zone or a database contains everything that an earlier one did.
    var slot: String? {
        if let key = info.collapseIDKey { return "collapse/" + key }
        let place = "\(container)/\(scope.rawValue)/\(subscription.subscriptionID ?? "")"
        switch subject {
        case .record: return nil
        case .zone: return "fet/\(place)/\(zone.ownerRecordName ?? "")/\(zone.zoneName)"
        case .database: return "met/\(place)"
        }
    }

    /// Returns the JSON; if it would be too large, parts are left out, and the JSON states that.
    func data(badge: Int64?) -> Data {
        let whole = write(badge: badge, hasFields: true, hasAlert: true)
        if whole.count <= Self.sizeLimit { return whole }
        let pruned = write(badge: badge, hasFields: false, hasAlert: true)
        if pruned.count <= Self.sizeLimit { return pruned }
        return write(badge: badge, hasFields: false, hasAlert: false)
    }

    private func write(badge: Int64?, hasFields: Bool, hasAlert: Bool) -> Data {
        typealias App = NotificationKeys.App
        typealias Message = NotificationKeys.Message
        var writer = JSONWriter(capacity: 512)
        writer.openObject()
        writer.key(NotificationKeys.Part.aps)
        writer.openObject()
        if hasAlert { writeAlert(to: &writer) }
        writer.member(App.sound, info.soundName)
        writer.member(App.badge, badge)
        writer.member(App.category, info.category)
        if info.shouldSendContentAvailable == true { writer.member(App.contentAvailable, Int64(1)) }
        if info.shouldSendMutableContent == true { writer.member(App.mutableContent, Int64(1)) }
        writer.closeObject()
        writer.key(NotificationKeys.Part.ck)
        writer.openObject()
        writer.member(Message.container, container)
        writer.member(Message.identifier, identifier)
        writer.member(Message.owner, owner)
        writer.member(Message.form, Int64(2))
        if !hasFields { writer.member(Message.isPruned, Int64(1)) }
        writeSubject(hasFields: hasFields, to: &writer)
        writer.closeObject()
        writer.closeObject()
        return writer.data
    }

    private func writeSubject(hasFields: Bool, to writer: inout JSONWriter) {
        typealias Key = NotificationKeys.Subject
        let kind: NotificationKeys.Message =
            switch subject {
            case .record: .query
            case .zone: .zone
            case .database: .database
            }
        writer.key(kind)
        writer.openObject()
        writer.member(Key.subscription, subscription.subscriptionID)
        writer.member(Key.scope, scope.pushNumber)
        if case .database = subject {
            writer.closeObject()
            return
        }
        writer.member(Key.zone, zone.zoneName)
        writer.member(Key.zoneOwner, zone.ownerRecordName)
        if case .record(let change, let fields) = subject {
            writer.member(Key.record, change.record.name)
            writer.member(Key.reason, change.kind.rawValue)
            if hasFields { write(fields, to: &writer) }
        }
        writer.closeObject()
    }

    /// Writes the fields that the subscription requests, if their types are allowed.
    private func write(_ fields: RecordFields, to writer: inout JSONWriter) {
        guard let names = info.additionalFields, !names.isEmpty else { return }
        writer.key(NotificationKeys.Subject.fields)
        writer.openObject()
        for name in Set(names).sorted() {
            switch fields.fields[name]?.value {
            case .bytes, .asset, .list, nil: continue
            case .reference(let reference):
                writer.key(named: name)
                writer.string(reference.recordName)
            case .location(let location):
                writer.key(named: name)
                writer.openObject()
                writer.member(WireLocation.CodingKeys.latitude, location.latitude)
                writer.member(WireLocation.CodingKeys.longitude, location.longitude)
                writer.closeObject()
            case let value?:
                writer.key(named: name)
                writer.value(value)
            }
        }
        writer.closeObject()
    }
}

// MARK: The alert

extension PushPayload {
    private func writeAlert(to writer: inout JSONWriter) {
        let info = info
        let texts: [(NotificationKeys.Alert, String?)] = [
            (.title, info.title), (.titleKey, info.titleLocalizationKey),
            (.subtitle, info.subtitle), (.subtitleKey, info.subtitleLocalizationKey),
            (.body, info.alertBody), (.bodyKey, info.alertLocalizationKey),
            (.actionKey, info.alertActionLocalizationKey),
            (.launchImage, info.alertLaunchImage),
        ]
        guard texts.contains(where: { $0.1 != nil }) else { return }
        writer.key(NotificationKeys.App.alert)
        writer.openObject()
        for (key, text) in texts { writer.member(key, text) }
        writeArguments(.titleArguments, info.titleLocalizationArgs, to: &writer)
        writeArguments(.subtitleArguments, info.subtitleLocalizationArgs, to: &writer)
        writeArguments(.bodyArguments, info.alertLocalizationArgs, to: &writer)
        writer.closeObject()
    }

    /// Writes the values of fields as texts; a missing value is empty, so that the others keep
    /// their indexes.
    private func writeArguments(
        _ key: NotificationKeys.Alert,
        _ names: [String]?,
        to writer: inout JSONWriter
    ) {
        guard let names, !names.isEmpty else { return }
        var fields = RecordFields()
        if case .record(_, let found) = subject { fields = found }
        writer.key(key)
        writer.openArray()
        for name in names { writer.string(fields.fields[name]?.value?.alertText ?? "") }
        writer.closeArray()
    }
}

extension WireValue {
    /// The value as text in an alert.
    fileprivate var alertText: String {
        switch self {
        case .string(let text): text
        case .int64(let number): String(number)
        case .double(let number): number.description
        case .timestamp(let time):
            Date(timeIntervalSince1970: Double(time) / 1000).formatted(.iso8601)
        case .reference(let reference): reference.recordName
        case .location(let location): "\(location.latitude), \(location.longitude)"
        case .bytes, .asset, .list: ""
        }
    }
}

extension DatabaseScope {
    /// The database in a notification: 0 for the public one, as observed from web couriers, and the
    /// native framework's numbers for the others.
    fileprivate var pushNumber: Int64 {
        switch self {
        case .public: 0
        case .private: 2
        case .shared: 3
        }
    }
}
