import CloudKitWire

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension CloudService {
    /// The number of requests that wait for a notification now.
    package var waitingRequests: Int { waiters.count }

    /// The notifications that wait for a token, oldest first.
    package func notifications(waitingFor token: String) async throws -> [Data] {
        let queue = SecretHash.of(token)
        return try await storage.read {
            try $0.pushes(queue, limit: PushCommit.queueLimit).map(\.body)
        }
    }

    /// Waits for the next notification of a token and takes it from its queue.
    ///
    /// The wait ends with the task: a request that is cancelled answers nothing, and nothing is
    /// taken.
    func courier(_ request: ServiceRequest) async -> ServiceResponse {
        do {
            guard request.method == "GET" else {
                throw RequestError(.badRequest, reason: "Wait for notifications with a GET")
            }
            let token = QueryParameters(request.query)["tok"] ?? ""
            return try await nextPush(SecretHash.of(token))
        } catch {
            return failure(error)
        }
    }

    private func nextPush(_ queue: Data) async throws -> ServiceResponse {
        let (id, signals) = waiters.open(queue)
        defer { waiters.close(queue, id) }
        try await keepToken(queue)
        if let push = try await takePush(queue) { return answer(push) }
        for await _ in signals {
            if let push = try await takePush(queue) { return answer(push) }
        }
        return ServiceResponse(status: 200)
    }

    private func answer(_ push: StoredPush) -> ServiceResponse { ok(push.body) }

    /// Lets a token live on while it is used.
    ///
    /// - Throws: `RequestError` with `NOT_FOUND` for one that is unknown or has expired.
    private func keepToken(_ hash: Data) async throws {
        let now = clock.milliseconds
        let directory = PushTokenDirectory()
        guard let token = try await storage.read({ try directory.token(hash, now: now, $0) }) else {
            throw RequestError(
                .notFound,
                reason: "The token is unknown or has expired; ask tokens/create for another"
            )
        }
        // Seldom, as it costs a write.
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
        // Nobody is there any more to whom it could be answered.
        try await storage.write { try $0.returnPush(taken) }
        waiters.wake([queue])
        return nil
    }
}
