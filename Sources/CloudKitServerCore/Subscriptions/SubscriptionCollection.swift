import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The subscriptions of one user to one database.
struct SubscriptionCollection {
    private let name: String
    private let database: DatabaseScope

    init(_ call: Call) throws(RequestError) {
        let user = try call.user()
        database = call.path.database
        name =
            "subscription/\(call.environment.id.rawValue)/\(database.rawValue)/\(user.id.rawValue)"
    }

    /// All of them, by name.
    func all(_ reader: any StorageReader) throws -> [WireSubscription] {
        try reader.documents(name).map { try Self.decode($0.body) }
    }

    /// The one of a name.
    func subscription(
        _ id: String,
        _ reader: any StorageReader
    ) throws -> WireSubscription? {
        try reader.document(name, id).map(Self.decode)
    }

    /// Applies one operation; what is wrong with it is answered with it.
    func apply(
        _ operation: ModifySubscriptionsRequest.Operation,
        _ id: String,
        _ writer: any StorageWriter
    ) throws -> ItemResult<WireSubscription> {
        let existing = try subscription(id, writer)
        if operation.operationType == .delete {
            guard existing != nil else { return .failure(Self.notFound(id)) }
            try writer.removeDocument(name, id)
            return .success(WireSubscription(subscriptionID: id, subscriptionType: nil))
        }
        // Making the same subscription again is no error, and changes nothing.
        if operation.operationType == .create, let existing { return .success(existing) }
        if operation.operationType == .update, existing == nil {
            return .failure(Self.notFound(id))
        }
        let subscription = operation.subscription
        if let problem = problem(with: subscription) {
            return .failure(ItemError(.badRequest, reason: problem, subscriptionID: id))
        }
        if let rival = try all(writer).first(where: { Self.isRival($0, of: subscription) }) {
            let reason =
                "could not find subscription we just created: '\(rival.subscriptionID ?? "")' "
                + "watches the same already"
            return .failure(ItemError(.internalError, reason: reason, subscriptionID: id))
        }
        try writer.putDocument(
            name,
            StoredDocument(name: id, body: WireJSON.encode(subscription))
        )
        return .success(subscription)
    }

    static func notFound(_ id: String) -> ItemError {
        ItemError(.notFound, reason: "Subscription not found: '\(id)'", subscriptionID: id)
    }

    private func problem(with subscription: WireSubscription) -> String? {
        guard let id = subscription.subscriptionID, !id.isEmpty,
            id.utf8.count <= Limits.nameLength
        else { return "subscriptionID is empty or too long" }
        switch subscription.subscriptionType {
        case nil: return "subscriptionType is missing for '\(id)'"
        case .query:
            if subscription.query == nil { return "The query subscription '\(id)' has no query" }
            if subscription.firesOn?.isEmpty ?? true {
                return "The query subscription '\(id)' fires on nothing; name create, update or "
                    + "delete in firesOn"
            }
        case .zone:
            if subscription.zoneID == nil { return "The zone subscription '\(id)' has no zoneID" }
            if database == .public {
                return "The public database has no zones to subscribe to"
            }
        case .database:
            if database == .public {
                return "The public database cannot be subscribed to as a whole"
            }
        }
        return nil
    }

    /// Whether two subscriptions of different names watch the same, which the service refuses.
    private static func isRival(_ first: WireSubscription, of second: WireSubscription) -> Bool {
        guard first.subscriptionID != second.subscriptionID,
            first.subscriptionType == .query, second.subscriptionType == .query
        else { return false }
        return first.query == second.query && first.zoneID == second.zoneID
            && Set(first.firesOn ?? []) == Set(second.firesOn ?? [])
    }

    private static func decode(_ body: Data) throws -> WireSubscription {
        do {
            return try WireJSON.decode(WireSubscription.self, from: body)
        } catch {
            throw StorageError(.corrupt, "A stored subscription cannot be read: \(error)")
        }
    }
}
