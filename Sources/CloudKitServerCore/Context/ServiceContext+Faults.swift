import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ServiceContext {
    /// Decides the faults of a call.
    func decideFaults(_ call: Call, _ endpoint: Endpoint) -> FaultDecision {
        guard faults.isActive else { return FaultDecision() }
        return faults.decide(FaultSubject(call, endpoint), now: call.now)
    }

    /// Decides the faults of a request that carries an asset's bytes.
    func decideFaults(asset operation: String) -> FaultDecision {
        faults.decide(FaultSubject(operation: operation), now: clock.milliseconds)
    }

    /// Decides the faults of a request that waits on a queue of notifications.
    func decideFaults(queue: Data) async throws -> FaultDecision {
        guard faults.isActive else { return FaultDecision() }
        let now = clock.milliseconds
        let subject = try await storage.read { reader in
            let token = try PushTokenDirectory().token(queue, now: now, reader)
            let users = try (token?.registrations ?? [])
                .compactMap { try reader.user(RowID(rawValue: $0.user)) }
            var subject = FaultSubject(
                operation: "push/wait",
                userNames: Set(users.flatMap { [$0.recordName, $0.fullName] })
            )
            subject.receivesNotifications = token != nil
            return subject
        }
        return faults.decide(subject, now: now)
    }
}
