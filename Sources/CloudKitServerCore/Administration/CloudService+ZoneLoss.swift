public import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// Deletes zones of a user's private database as the settings of Apple's systems do, in one commit.
    ///
    /// Until a zone is created again, the owner's requests about it fail with `ZONE_NOT_FOUND` and
    /// the reason; the feed of the database has the reason too. Participants see a deleted zone
    /// without a reason.
    ///
    /// - Parameters:
    ///   - names: The zones; by default all custom zones of the user.
    ///   - user: The owner.
    ///   - environment: The environment of the zones.
    ///   - reason: The reason for the deletion.
    /// - Throws: `RequestError` with `NOT_FOUND` for a user who does not exist, `ZONE_NOT_FOUND`
    ///   for a zone that does not, and `BAD_REQUEST` for the default zone; nothing changes then.
    public func deleteZones(
        _ names: [String]? = nil,
        of user: ServiceUser,
        environment: ServiceEnvironment,
        because reason: ZoneDeletionReason
    ) async throws {
        let seal = try await seal()
        let now = clock.milliseconds
        let work = context.ownWork()
        let news = try await storage.write { [randomness] writer in
            let row = try Self.environment(user.container, environment, writer)
            let owner = try ContainerDirectory(user.container)
                .user(user.userRecordName, writer)
            let call = Call(of: owner, in: row, .zonesModify, now: now, work)
            var change = ZoneCommit(
                call: call,
                writer: writer,
                seal: seal,
                randomness: randomness,
                reason: reason
            )
            let all = try ZoneDirectory(call: call, reader: writer).zones()
                .filter { !$0.isDefault }.map(\.id.zoneName)
            for name in names ?? all {
                _ = try change.apply(.init(.delete, WireZoneID(zoneName: name)))
            }
            return change.news
        }
        announce(news)
    }
}
