import CloudKitServerCore
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

extension JournalEntry.Problem {
    /// Returns the errors in a response: the request's own, or those of its items.
    static func all(in response: ServiceResponse) -> [Self] {
        if response.status >= 400 {
            // A page that is not the service's has no error to list; the entry has its status.
            guard let error = try? WireJSON.decode(RequestError.self, from: response.body) else {
                return []
            }
            return [Self(nil, error.serverErrorCode, error.reason)]
        }
        // Most responses have no errors: they are not decoded.
        guard mentionsErrors(response.body),
            // As above.
            let decoded = try? WireJSON.decode(Response.self, from: response.body)
        else { return [] }
        return decoded.items.compactMap { item in
            item.serverErrorCode.map { Self(item.name, $0, item.reason) }
        }
    }

    /// The problem of a response that the server cut.
    static let unread = Self(
        item: nil,
        code: "RESPONSE_CUT",
        reason: "The client did not read the response in time, so its connection was closed",
        remedy:
            "Look for a client or a network that is slow or stuck; ask for fewer records at a time."
    )

    private init(_ item: String?, _ code: ServerErrorCode, _ reason: String?) {
        self.init(
            item: item,
            code: code.rawValue,
            reason: reason ?? "",
            remedy: Self.remedy(code)
        )
    }

    private static func mentionsErrors(_ body: Data) -> Bool {
        // The capital letter is rare elsewhere in responses.
        let word = Array("ErrorCode\"".utf8)
        return body.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            var offset = 0
            while offset + word.count <= bytes.count,
                let found = memchr(base + offset, Int32(word[0]), bytes.count - offset)
            {
                offset = base.distance(to: found)
                if offset + word.count <= bytes.count,
                    memcmp(base + offset, word, word.count) == 0
                {
                    return true
                }
                offset += 1
            }
            return false
        }
    }

    /// The parts of a response that may contain errors.
    private struct Response: Decodable {
        struct Item: Decodable {
            var recordName: String?
            var subscriptionID: String?
            var zoneID: WireZoneID?
            var serverErrorCode: ServerErrorCode?
            var reason: String?

            var name: String? { recordName ?? subscriptionID ?? zoneID?.zoneName }
        }

        var records: [Item]?
        var zones: [Item]?
        var subscriptions: [Item]?

        var items: [Item] { (records ?? []) + (zones ?? []) + (subscriptions ?? []) }
    }

    /// Returns the remedy for an error.
    private static func remedy(_ code: ServerErrorCode) -> String {
        switch code {
        case .accessDenied:
            "Act as a user whose role may do this, grant the role in the schema, or start the "
                + "server with that name or origin allowed."
        case .atomicError:
            "Look at the item of the same request that has another code; or send atomic: false."
        case .authenticationFailed:
            "Use an API token of this container and environment, and a web auth token created "
                + "with it that has not expired; sign requests with a clock that is right."
        case .authenticationRequired:
            "Sign in at the redirectURL and send the web auth token as ckWebAuthToken."
        case .badRequest: "Correct what the reason names, then send the request again."
        case .changeTokenExpired: "Fetch without a syncToken, and replace the local data."
        case .conflict:
            "Fetch the record, merge, and save with its recordChangeTag; or use forceReplace."
        case .exists: "Use another name, or fetch the one that exists and change it."
        case .notFound: "Check the name, the zone and the database; or create it first."
        case .quotaExceeded: "Delete unneeded data, or raise the quota."
        case .throttled, .tryAgainLater, .zoneBusy:
            "Wait for the seconds in retryAfter, then send the request again."
        case .uniqueFieldError: "Give the field another value."
        case .validatingReferenceError:
            "Save the target of a reference first; delete references to a record before it."
        case .zoneNotFound: "Create the zone with zones/modify, or check its name and owner."
        case .internalError: "Look at the server's log under this request's identifier."
        default: "See the reason."
        }
    }
}
