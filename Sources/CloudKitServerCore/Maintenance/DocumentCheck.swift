import CloudKitBasics
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Checks that the bodies of stored documents can be read.
enum DocumentCheck {
    /// Returns whether the body of a document has the form of its collection.
    static func canBeRead(_ document: StoredDocument, in collection: String) -> Bool {
        let parts = collection.split(separator: "/")
        let body = document.body
        return switch parts.first {
        case "role", "copyNames": decodes([String].self, body)
        case "shareLink", "shareMembership": decodes(ShareDirectory.Place.self, body)
        case "shareMember": Int64(document.name) != nil
        case "shareExpiry", "shareJoining", "subscribedType", "assetHold":
            Int64(String(decoding: body, as: UTF8.self)) != nil
        case "subscription":
            // Only whether it can be read is asked.
            (try? WireJSON.decode(WireSubscription.self, from: body)) != nil
        case "pushToken" where parts.count == 1: decodes(PushToken.self, body)
        case "pushToken": Hexadecimal.text(body) == document.name
        case "archive": decodes(ArchivePlan.self, body)
        case "copyJob": decodes(CopyJob.self, body)
        case "passwords": decodes(PasswordHash.self, body)
        case "upload": decodes(UploadDirectory.Entry.self, body)
        default: true
        }
    }

    private static func decodes<Body: Decodable>(_ type: Body.Type, _ body: Data) -> Bool {
        // Only whether it can be read is asked.
        (try? JSONDecoder().decode(type, from: body)) != nil
    }
}
