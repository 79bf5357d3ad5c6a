import Foundation

/// A push notification of the service: `{"aps": {…}, "ck": {"cid": …, "qry"
/// "fet"
/// "met": {…}}}`.
///
/// The format is not documented; the keys are those that CloudKit JS and apps' tests read. The
/// contents come from outside: a value of an unexpected type counts as absent.
struct NotificationPayload: @unchecked Sendable {
    // @unchecked Sendable because the dictionaries hold property list values, which nobody changes.

    let kind: CKNotification.NotificationType
    let aps: [String: Any]
    private let ck: [String: Any]
    private let detail: [String: Any]

    /// Creates a payload from a push notification; nil if it is not CloudKit's.
    init?(_ dictionary: [AnyHashable: Any]) {
        guard let ck = Self.object(dictionary["ck"]) else { return nil }
        self.ck = ck
        aps = Self.object(dictionary["aps"]) ?? [:]
        let kinds: [(String, CKNotification.NotificationType)] = [
            ("qry", .query), ("fet", .recordZone), ("met", .database),
        ]
        guard let (key, kind) = kinds.first(where: { Self.object(ck[$0.0]) != nil }) else {
            return nil
        }
        self.kind = kind
        detail = Self.object(ck[key]) ?? [:]
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

    var container: String? { ck["cid"] as? String }
    var notificationID: String? { ck["nid"] as? String }
    var isPruned: Bool { ck["p"] != nil }

    var owner: String? {
        guard let owner = ck["ckuserid"] as? String, !owner.isEmpty else { return nil }
        return owner
    }

    // MARK: Contents

    func text(_ key: String) -> String? { detail[key] as? String }

    func integer(_ key: String) -> Int? {
        (detail[key] as? NSNumber)?.intValue ?? detail[key] as? Int
    }

    /// The database: native numbers, 1 to 3; web couriers use 0 for the public one.
    var scope: CKDatabase.Scope {
        guard let number = integer("dbs") else { return .private }
        return number == 0 ? .public : CKDatabase.Scope(rawValue: number) ?? .private
    }

    /// The zone's ID; in the private database the user's own.
    var zoneID: CKRecordZone.ID? {
        guard let name = text("zid"), !name.isEmpty else { return nil }
        guard scope == .shared, let owner = text("zoid"), !owner.isEmpty else {
            return CKRecordZone.ID(zoneName: name)
        }
        return CKRecordZone.ID(zoneName: name, ownerName: owner)
    }

    /// The values of the fields that the subscription requested.
    var fields: [String: any Sendable]? {
        guard let fields = Self.object(detail["af"]) else { return nil }
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

    /// Returns a part of the alert; an alert that is a string is its body.
    func alert(_ key: String) -> String? {
        if key == "body", let body = aps["alert"] as? String { return body }
        return Self.object(aps["alert"])?[key] as? String
    }

    func alertList(_ key: String) -> [String]? { Self.object(aps["alert"])?[key] as? [String] }
}
