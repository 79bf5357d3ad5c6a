import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoints of subscriptions: `subscriptions/…`.
struct SubscriptionsEndpoint: Sendable {
    let context: ServiceContext

    /// Handles `subscriptions/list`: returns the caller's subscriptions to the database.
    func list(_ call: Call) async throws -> Data {
        let collection = try SubscriptionCollection(call)
        let found = try await context.read(call) { try collection.all($0) }
        return try WireJSON.encode(SubscriptionsResponse(subscriptions: found.map { .success($0) }))
    }

    /// Handles `subscriptions/lookup`: returns the caller's subscriptions by name.
    func lookUp(_ call: Call) async throws -> Data {
        let request = try call.message(LookupSubscriptionsRequest.self)
        try call.checkCount(request.subscriptions.count, "subscriptions")
        try call.work.check(names: request.subscriptions.map(\.subscriptionID))
        let collection = try SubscriptionCollection(call)
        let found = try await context.read(call) { reader in
            try request.subscriptions.map { item -> ItemResult<WireSubscription> in
                if let found = try collection.subscription(item.subscriptionID, reader) {
                    return .success(found)
                }
                return .failure(SubscriptionCollection.notFound(item.subscriptionID))
            }
        }
        return try WireJSON.encode(SubscriptionsResponse(subscriptions: found))
    }

    /// Handles `subscriptions/modify`: creates, replaces and deletes subscriptions.
    func modify(_ call: Call) async throws -> Data {
        let request = try call.message(ModifySubscriptionsRequest.self)
        try call.checkCount(request.operations.count, "operations")
        try call.work.check(names: request.operations.map(\.subscription.subscriptionID))
        let collection = try SubscriptionCollection(call)
        let names = request.operations.map {
            $0.subscription.subscriptionID ?? context.randomness.uuid()
        }
        let results = try await context.write(call, call.ownScope) { writer in
            let schema = try context.schemas.current(call.environment, writer)
            return try zip(request.operations, names).map { operation, name in
                var operation = operation
                operation.subscription.subscriptionID = name
                return try collection.apply(operation, name, schema, writer)
            }
        }
        return try WireJSON.encode(SubscriptionsResponse(subscriptions: results))
    }
}
