import CloudKitWire
import Foundation

/// A push notification of the service, by its `NotificationKeys`.
///
/// The contents come from outside: a value of an unexpected type counts as absent.
struct NotificationPayload: @unchecked Sendable {
    // @unchecked Sendable because the dictionaries hold property list values, which nobody changes.

    let kind: CKNotification.NotificationType
    private let app: [String: Any]
    private let message: [String: Any]
    private let subject: [String: Any]

    /// Creates a payload from a push notification; nil if it is not CloudKit's.
    init?(_ dictionary: [AnyHashable: Any]) {
        typealias Part = NotificationKeys.Part
        guard let message = Self.object(dictionary[Part.ck.rawValue]) else { return nil }
        self.message = message
        app = Self.object(dictionary[Part.aps.rawValue]) ?? [:]
        let kinds: [(NotificationKeys.Message, CKNotification.NotificationType)] = [
            (.query, .query), (.zone, .recordZone), (.database, .database),
        ]
        for (key, kind) in kinds {
            guard let subject = Self.object(message[key.rawValue]) else { continue }
            self.kind = kind
            self.subject = subject
            return
        }
        return nil
    }

    private static func object(_ value: Any?) -> [String: Any]? {
        if let object = value as? [String: Any] { return object }
        guard let object = value as? [AnyHashable: Any] else { return nil }
        var result: [String: Any] = [:]
        for (key, value) in object {
            if let key = key as? String { result[key] = value }
        }
        return result
    }

    // MARK: The envelope

    var container: String? { part(.container) }
    var notificationID: String? { part(.identifier) }
    var isPruned: Bool { message[NotificationKeys.Message.isPruned.rawValue] != nil }

    var owner: String? {
        guard let owner = part(.owner), !owner.isEmpty else { return nil }
        return owner
    }

    private func part(_ key: NotificationKeys.Message) -> String? {
        message[key.rawValue] as? String
    }

    // MARK: Contents

    func text(_ key: NotificationKeys.Subject) -> String? { subject[key.rawValue] as? String }

    func integer(_ key: NotificationKeys.Subject) -> Int? {
        (subject[key.rawValue] as? NSNumber)?.intValue ?? subject[key.rawValue] as? Int
    }

    /// The database: native numbers, 1 to 3; web couriers use 0 for the public one.
    var scope: CKDatabase.Scope {
        guard let number = integer(.scope) else { return .private }
        return number == 0 ? .public : CKDatabase.Scope(rawValue: number) ?? .private
    }

    /// The zone's ID; in the private database the user's own.
    var zoneID: CKRecordZone.ID? {
        guard let name = text(.zone), !name.isEmpty else { return nil }
        guard scope == .shared, let owner = text(.zoneOwner), !owner.isEmpty else {
            return CKRecordZone.ID(zoneName: name)
        }
        return CKRecordZone.ID(zoneName: name, ownerName: owner)
    }

    /// The values of the fields that the subscription requested.
    var fields: [String: any Sendable]? {
        guard let fields = Self.object(subject[NotificationKeys.Subject.fields.rawValue]) else {
            return nil
        }
        return fields.compactMapValues { value -> (any Sendable)? in
            switch value {
            case let text as String: text
            case let number as NSNumber: number
            case let date as Date: date
            default: nil
            }
        }
    }

    // MARK: Alert

    func value(_ key: NotificationKeys.App) -> Any? { app[key.rawValue] }

    /// Returns a part of the alert; an alert that is a string is its body.
    func alert(_ key: NotificationKeys.Alert) -> String? {
        if key == .body, let body = value(.alert) as? String { return body }
        return Self.object(value(.alert))?[key.rawValue] as? String
    }

    func alertList(_ key: NotificationKeys.Alert) -> [String]? {
        Self.object(value(.alert))?[key.rawValue] as? [String]
    }
}
