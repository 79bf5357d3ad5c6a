import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ServiceContext {
    /// Decides the faults of a request that carries an asset's bytes.
    func decideFaults(asset operation: String) -> FaultDecision {
        faults.decide(FaultSubject(operation: operation), now: clock.milliseconds)
    }

    /// Decides the faults of a request that waits on a queue of notifications, or those of the
    /// notification that ends the wait.
    func decideFaults(queue: Data, hasNotification: Bool = false) async throws -> FaultDecision {
        guard faults.isActive else { return FaultDecision() }
        let now = clock.milliseconds
        let subject = try await storage.read { reader in
            let token = try PushTokenDirectory().token(queue, now: now, reader)
            let users = try (token?.registrations ?? [])
                .compactMap { try reader.user(RowID(rawValue: $0.user)) }
            var subject = FaultSubject(
                operation: FaultOperation.pushWait,
                userNames: Set(users.flatMap { [$0.recordName, $0.fullName] })
            )
            subject.hasNotification = hasNotification
            return subject
        }
        return faults.decide(subject, now: now)
    }
}
