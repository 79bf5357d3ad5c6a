/// The keys of a push notification:
/// `{"aps": {…}, "ck": {"cid": …, "qry" | "fet" | "met": {…}}}`.
///
/// The format is not documented; the keys are those that CloudKit JS and apps' tests read.
package enum NotificationKeys {
    /// The keys of the two parts.
    package enum Part: String, CodingKey {
        case aps, ck
    }

    /// The keys of the part that every app's notification has.
    package enum App: String, CodingKey {
        case alert, sound, badge, category
        case contentAvailable = "content-available"
        case mutableContent = "mutable-content"
    }

    /// The keys of an alert.
    package enum Alert: String, CodingKey {
        case title, subtitle, body
        case titleKey = "title-loc-key"
        case titleArguments = "title-loc-args"
        case subtitleKey = "subtitle-loc-key"
        case subtitleArguments = "subtitle-loc-args"
        case bodyKey = "loc-key"
        case bodyArguments = "loc-args"
        case actionKey = "action-loc-key"
        case launchImage = "launch-image"
    }

    /// The keys of CloudKit's part, of which one leads to the subject.
    package enum Message: String, CodingKey {
        case container = "cid"
        case identifier = "nid"
        case owner = "ckuserid"
        case form = "ce"
        case isPruned = "p"
        case query = "qry"
        case zone = "fet"
        case database = "met"
    }

    /// The keys of the subject.
    package enum Subject: String, CodingKey {
        case subscription = "sid"
        case scope = "dbs"
        case zone = "zid"
        case zoneOwner = "zoid"
        case record = "rid"
        case reason = "fo"
        case fields = "af"
    }
}
