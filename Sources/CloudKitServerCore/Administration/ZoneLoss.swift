import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The deletion of users' zones for a reason that is no app's, as in the settings of Apple's systems.
struct ZoneLoss: Sendable {
    let context: ServiceContext

    /// Deletes zones of a user's private database as the settings of Apple's systems do, in one commit.
    func delete(
        _ names: [String]?,
        of user: ServiceUser,
        environment: ServiceEnvironment,
        because reason: ZoneDeletionReason
    ) async throws {
        let seal = try await context.seal()
        let now = context.clock.milliseconds
        let work = context.ownWork()
        let news = try await context.storage.write { writer in
            let row = try ContainerDirectory(user.container).environment(environment, writer)
            let owner = try ContainerDirectory(user.container).user(user.userRecordName, writer)
            let call = Call(of: owner, in: row, .zonesModify, now: now, work)
            var change = ZoneCommit(
                call: call,
                writer: writer,
                seal: seal,
                randomness: context.randomness,
                reason: reason
            )
            let all = try ZoneDirectory(call: call, reader: writer).zones()
                .filter { !$0.isDefault }.map(\.id.zoneName)
            for name in Set(names ?? all).sorted() {
                _ = try change.apply(.init(.delete, WireZoneID(zoneName: name)))
            }
            return change.news
        }
        context.pushes.announce(news)
    }
}
