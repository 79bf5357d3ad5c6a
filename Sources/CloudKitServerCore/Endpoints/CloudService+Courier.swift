import CloudKitWire
import Synchronization

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension CloudService {
    /// The number of requests that currently wait for a notification.
    package var waitingRequests: Int { waiters.count }

    /// Returns the notifications that wait for a token, oldest first.
    package func notifications(waitingFor token: String) async throws -> [Data] {
        let queue = SecretHash.of(token)
        return try await storage.read {
            try $0.pushes(queue, limit: PushCommit.queueLimit).map(\.body)
        }
    }

    /// Wakes the waiting requests if another process has written to the storage.
    ///
    /// A server on a storage that other processes use too calls this several times a second;
    /// without waiting requests, it does nothing.
    ///
    /// - Throws: `StorageError`.
    public func wakeAfterExternalChanges() async throws {
        guard waiters.count > 0, let number = try await storage.externalChangeCount() else {
            return
        }
        let isNew = lastForeignChange.withLock { last in
            defer { last = number }
            return last != number
        }
        if isNew { waiters.wakeAll() }
    }

    /// Waits for the next notification of a token and takes it from its queue.
    ///
    /// The wait ends with the task: a cancelled request returns no notification and takes none.
    func courier(_ request: ServiceRequest) async -> ServiceResponse {
        var faults = FaultDecision()
        var response: ServiceResponse
        do {
            guard request.method == "GET" else {
                throw RequestError(.badRequest, reason: "Wait for notifications with a GET")
            }
            let queue = SecretHash.of(QueryParameters(request.query)["tok"] ?? "")
            faults = try await decideFaults(queue: queue)
            if faults.isDropped { throw CancellationError() }
            if let error = faults.error { throw error }
            response = try await nextPush(queue, losesFirst: faults.losesNotification)
        } catch {
            response = failure(error)
        }
        response.delivery = faults.delivery
        response.faultRules = faults.rules
        return response
    }

    private func nextPush(_ queue: Data, losesFirst: Bool) async throws -> ServiceResponse {
        let (id, signals) = waiters.open(queue)
        defer { waiters.close(queue, id) }
        try await keepToken(queue)
        var losesNext = losesFirst
        if let push = try await takePush(queue, &losesNext) { return answer(push) }
        for await _ in signals {
            if let push = try await takePush(queue, &losesNext) { return answer(push) }
        }
        return ServiceResponse(status: 200)
    }

    /// Takes the oldest item of a queue, or the second one if a fault loses the first.
    private func takePush(_ queue: Data, _ losesNext: inout Bool) async throws -> StoredPush? {
        if losesNext {
            guard try await takePush(queue) != nil else { return nil }
            losesNext = false
        }
        return try await takePush(queue)
    }

    private func answer(_ push: StoredPush) -> ServiceResponse { ok(push.body) }

    /// Extends a token that is in use.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for one that is unknown or has expired.
    private func keepToken(_ hash: Data) async throws {
        let now = clock.milliseconds
        let directory = PushTokenDirectory()
        guard let token = try await storage.read({ try directory.token(hash, now: now, $0) }) else {
            throw RequestError(
                .notFound,
                reason: "The token is unknown or has expired; request another with tokens/create"
            )
        }
        // Rarely, because it costs a write.
        guard token.expires < now + PushToken.life * 11 / 12 else { return }
        try await storage.write { writer in
            guard var token = try directory.token(hash, now: now, writer) else { return }
            token.expires = now + PushToken.life
            try directory.save(token, hash, writer)
        }
    }

    /// Takes the oldest item of a queue, if there is one.
    private func takePush(_ queue: Data) async throws -> StoredPush? {
        let isEmpty = try await storage.read { try $0.pushes(queue, limit: 1).isEmpty }
        guard !isEmpty, !Task.isCancelled else { return nil }
        let taken = try await storage.write { writer -> StoredPush? in
            guard let push = try writer.pushes(queue, limit: 1).first else { return nil }
            try writer.removePush(push.id)
            return push
        }
        guard let taken, Task.isCancelled else { return taken }
        // The client that would receive it has disconnected.
        try await storage.write { try $0.returnPush(taken) }
        waiters.wake([queue])
        return nil
    }
}
