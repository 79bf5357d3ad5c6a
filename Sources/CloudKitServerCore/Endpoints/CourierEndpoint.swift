import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The endpoint at which clients wait for notifications.
struct CourierEndpoint: Sendable {
    let context: ServiceContext

    /// Waits for the next notification of a token and takes it from its queue.
    ///
    /// The wait ends with the task: a cancelled request returns no notification and takes none.
    func wait(_ request: ServiceRequest) async -> ServiceResponse {
        var faults = FaultDecision()
        var response: ServiceResponse
        do {
            guard request.method == "GET" else {
                throw RequestError(.badRequest, reason: "Wait for notifications with a GET")
            }
            let queue = SecretHash.of(QueryParameters(request.query)["tok"] ?? "")
            faults = try await context.decideFaults(queue: queue)
            if faults.isDropped { throw CancellationError() }
            if let error = faults.error { throw error }
            response = try await nextPush(queue, &faults)
        } catch {
            response = context.responses.failure(error)
        }
        context.faults.settle(&faults, FaultOutcome(bytes: response.body.count))
        response.delivery = faults.delivery
        response.faultRules = faults.rules
        return response
    }

    private func nextPush(
        _ queue: Data,
        _ faults: inout FaultDecision
    ) async throws -> ServiceResponse {
        let (id, signals) = context.pushes.waiters.open(queue)
        defer { context.pushes.waiters.close(queue, id) }
        try await keepToken(queue)
        if let push = try await takePush(queue, &faults) {
            return context.responses.ok(push.body)
        }
        for await _ in signals {
            if let push = try await takePush(queue, &faults) {
                return context.responses.ok(push.body)
            }
        }
        return ServiceResponse(status: 200)
    }

    /// Takes the oldest item of a queue, or the second one if a fault loses the first.
    ///
    /// The fault is decided when there is an item to lose, so that a wait without one uses nothing
    /// of it up. A request loses one at most.
    private func takePush(
        _ queue: Data,
        _ faults: inout FaultDecision
    ) async throws -> StoredPush? {
        guard let push = try await takePush(queue) else { return nil }
        guard !faults.losesNotification,
            // What was taken from the queue is delivered if the users of the token cannot be read.
            let loss = try? await context.decideFaults(queue: queue, hasNotification: true),
            loss.losesNotification
        else { return push }
        faults.losesNotification = true
        faults.rules = (faults.rules + loss.rules).sorted()
        return try await takePush(queue)
    }

    /// Extends a token that is in use.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for one that is unknown or has expired.
    private func keepToken(_ hash: Data) async throws {
        let now = context.clock.milliseconds
        let directory = PushTokenDirectory()
        guard
            let token = try await context.storage.read({ try directory.token(hash, now: now, $0) })
        else {
            throw RequestError(
                .notFound,
                reason: "The token is unknown or has expired; request another with tokens/create"
            )
        }
        // Rarely, because it costs a write.
        guard token.expires < now + PushToken.life * 11 / 12 else { return }
        try await context.storage.write(.queue(hash), needing: StorageNeeds.none) { writer in
            guard var token = try directory.token(hash, now: now, writer) else { return }
            token.expires = now + PushToken.life
            try directory.save(token, hash, writer)
        }
    }

    /// Takes the oldest item of a queue, if there is one.
    private func takePush(_ queue: Data) async throws -> StoredPush? {
        let needs = StorageNeeds.oldest(of: queue)
        let isEmpty = try await context.storage.read(needing: { needs }) { reader in
            try reader.pushes(queue, limit: 1).isEmpty
        }
        guard !isEmpty, !Task.isCancelled else { return nil }
        let taken = try await context.storage.write(.queue(queue), needing: { needs }) {
            writer -> StoredPush? in
            guard let push = try writer.pushes(queue, limit: 1).first else { return nil }
            try writer.removePush(push.id)
            return push
        }
        guard let taken, Task.isCancelled else { return taken }
        // The client that would receive it has disconnected.
        try await context.storage.write(.queue(queue), needing: StorageNeeds.none) { writer in
            try writer.returnPush(taken)
        }
        context.pushes.waiters.wake([queue])
        return nil
    }
}
