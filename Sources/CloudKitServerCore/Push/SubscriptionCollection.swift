import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The subscriptions of one user to one database.
struct SubscriptionCollection {
    private let name: String
    private let environment: RowID<StoredEnvironment>
    private let database: DatabaseScope
    private let user: RowID<StoredUser>
    private var untagged = UntaggedValues.asObserved

    init(_ call: Call) throws(RequestError) {
        self.init(
            of: try call.user().id,
            to: call.path.database,
            in: call.environment.id
        )
        untagged = call.untagged
    }

    init(
        of user: RowID<StoredUser>,
        to database: DatabaseScope,
        in environment: RowID<StoredEnvironment>
    ) {
        self.user = user
        self.database = database
        self.environment = environment
        name = "subscription/\(environment.rawValue)/\(database.rawValue)/\(user.rawValue)"
    }

    /// Adds all subscriptions.
    func addNeeds(to needs: inout StorageNeeds) { needs.collections.insert(name) }

    /// Adds the users who subscribe to records of a type in the public database.
    static func addNeeds(
        ofUsersWatching type: String,
        in environment: RowID<StoredEnvironment>,
        to needs: inout StorageNeeds
    ) {
        needs.collections.insert(directory(of: type, in: environment))
    }

    /// Returns all subscriptions, by name.
    func all(_ reader: any StorageReader) throws -> [WireSubscription] {
        try reader.documents(name).map { try Self.decode($0.body) }
    }

    /// Returns the subscription with a name.
    func subscription(
        _ id: String,
        _ reader: any StorageReader
    ) throws -> WireSubscription? {
        try reader.document(name, id).map(Self.decode)
    }

    /// Applies one operation; an error is part of its result.
    func apply(
        _ operation: ModifySubscriptionsRequest.Operation,
        _ id: String,
        _ schema: Schema,
        _ writer: any StorageWriter
    ) throws -> ItemResult<WireSubscription> {
        let existing = try subscription(id, writer)
        if operation.operationType == .delete {
            guard let existing else { return .failure(Self.notFound(id)) }
            try remove(existing, writer)
            return .success(WireSubscription(subscriptionID: id, subscriptionType: nil))
        }
        // Creating the same subscription again is no error, and changes nothing.
        if operation.operationType == .create, let existing { return .success(existing) }
        if operation.operationType == .update, existing == nil {
            return .failure(Self.notFound(id))
        }
        let subscription = operation.subscription
        if let problem = problem(with: subscription, schema) {
            return .failure(ItemError(.badRequest, reason: problem, subscriptionID: id))
        }
        if let rival = try all(writer).first(where: { Self.isRival($0, of: subscription) }) {
            let reason =
                "could not find subscription we just created: '\(rival.subscriptionID ?? "")' "
                + "watches the same already"
            return .failure(ItemError(.internalError, reason: reason, subscriptionID: id))
        }
        if let existing { try remove(existing, writer) }
        try add(subscription, id, writer)
        return .success(subscription)
    }

    private func add(
        _ subscription: WireSubscription,
        _ id: String,
        _ writer: any StorageWriter
    ) throws {
        try writer.putDocument(
            name,
            StoredDocument(name: id, body: WireJSON.encode(subscription))
        )
        guard database == .public, let type = subscription.query?.recordType else { return }
        let owner = Data(String(user.rawValue).utf8)
        try writer.putDocument(
            Self.directory(of: type, in: environment),
            StoredDocument(name: "\(user.rawValue)/\(id)", body: owner)
        )
    }

    /// Removes a subscription.
    func remove(_ subscription: WireSubscription, _ writer: any StorageWriter) throws {
        guard let id = subscription.subscriptionID else { return }
        try writer.removeDocument(name, id)
        guard database == .public, let type = subscription.query?.recordType else { return }
        try writer.removeDocument(
            Self.directory(of: type, in: environment),
            "\(user.rawValue)/\(id)"
        )
    }

    /// Returns the users who subscribe to records of a type in the public database.
    static func users(
        watching type: String,
        in environment: RowID<StoredEnvironment>,
        _ reader: any StorageReader
    ) throws -> Set<RowID<StoredUser>> {
        Set(
            try reader.documents(directory(of: type, in: environment)).compactMap {
                Int64(String(decoding: $0.body, as: UTF8.self)).map(RowID.init(rawValue:))
            }
        )
    }

    /// Returns whether a user who may be notified about a zone has a query for records of a type.
    static func lookAtFields(
        ofType type: String,
        in zone: ZoneView,
        _ environment: RowID<StoredEnvironment>,
        _ reader: any StorageReader
    ) throws -> Bool {
        guard let owner = zone.database.owner else {
            return try !users(watching: type, in: environment, reader).isEmpty
        }
        let members = try ShareDirectory(environment: environment)
            .members(of: zone.zone.id, reader)
        let people = [(owner, DatabaseScope.private)] + members.map { ($0, .shared) }
        return try people.contains { user, database in
            try SubscriptionCollection(of: user, to: database, in: environment).all(reader)
                .contains { $0.subscriptionType == .query && $0.query?.recordType == type }
        }
    }

    private static func directory(
        of type: String,
        in environment: RowID<StoredEnvironment>
    ) -> String {
        "subscribedType/\(environment.rawValue)/\(type)"
    }

    static func notFound(_ id: String) -> ItemError {
        ItemError(.notFound, reason: "Subscription not found: '\(id)'", subscriptionID: id)
    }

    private func problem(with subscription: WireSubscription, _ schema: Schema) -> String? {
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
            return problem(with: subscription.query, schema)
        case .zone:
            guard let zone = subscription.zoneID else {
                return "The zone subscription '\(id)' has no zoneID"
            }
            if zone.isDefault {
                return "The default zone has no change feed for '\(id)' to report"
            }
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

    /// Returns the reason why records cannot be compared with a query; a query for an unknown type
    /// waits for the type.
    private func problem(with query: WireQuery?, _ schema: Schema) -> String? {
        guard let query, let type = schema.types[query.recordType] else { return nil }
        do {
            for filter in query.filterBy {
                _ = try QueryCondition(filter, in: type, query.recordType, untagged)
            }
            return nil
        } catch {
            return error.reason ?? "The query cannot be evaluated"
        }
    }

    /// Returns whether two subscriptions with different names observe the same changes, which the
    /// service refuses.
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
