import CloudKit
import CloudKitStore
import CloudKitTesting
import Foundation
import GRDB

/// Schedules in which one user shares a tree of rows with another.
extension StoreSimulation {
    private static let table = "board"

    /// Shares a row with the other user, who accepts on one device.
    func beginSharing(in world: SimulatedWorld) async throws {
        let owner = devices[0]
        let before = try owner.contents()
        let shown = try owner.shown()
        try await owner.database.write {
            try $0.execute(
                sql: "INSERT INTO board (id, name) VALUES ('\(SimulationWriter.root)', 'v0')"
            )
        }
        model.note(before, try owner.contents(), by: owner.name, saves: owner.saves)
        try note(shown, on: owner, in: world)
        try await change(.readWrite, owner, in: world)
        guard let other = devices.first(where: { $0.user != 0 }) else { return }
        try await change(.accept, other, in: world)
    }

    /// Changes permissions.
    func change(
        _ sharing: SimulationStep.Sharing,
        _ device: SimulatedDevice,
        crash: SimulationStep.Crash? = nil,
        in world: SimulatedWorld
    ) async throws {
        let other = world.users[world.users.count - 1].recordName
        let link = sharing == .accept ? try await link(in: world) : nil
        let container = device.container
        let root = SimulationWriter.root
        let owner = world.users[0].recordName
        let isWhole = plan.variant == .everything
        let (_, error, found) = await device.carryOut(crash: crash) { store in
            switch sharing {
            case .readOnly, .readWrite, .remove:
                let participant = try await container.shareParticipant(
                    forUserRecordID: CKRecord.ID(recordName: other)
                )
                participant.permission = sharing == .readOnly ? .readOnly : .readWrite
                let configure: @Sendable (CKShare) -> Void = { share in
                    for known in share.participants where known.role != .owner {
                        if sharing == .remove {
                            share.removeParticipant(known)
                        } else {
                            known.permission = participant.permission
                        }
                    }
                    if sharing != .remove, share.participants.allSatisfy({ $0.role == .owner }) {
                        share.addParticipant(participant)
                    }
                }
                if isWhole {
                    try await store.shareEverything(configure: configure)
                } else {
                    try await store.share(root, in: Self.table, configure: configure)
                }
            case .unshare where isWhole: try await store.unshareEverything()
            case .unshare: try await store.unshare(root, in: Self.table)
            case .leave where isWhole: try await store.leaveEverything(of: owner)
            case .leave: try await store.leave(root, in: Self.table)
            case .accept:
                guard let link else { return }
                try await store.accept(container.shareMetadata(for: link))
            }
        }
        problems += found
        if crash != nil {
            try await device.relaunch()
            return try pass(seconds: 5, in: world)
        }
        // Without a share, there is none to leave or to end.
        if let error = error as? CloudStoreError,
            [.notShared, .neverSent, .noSuchRow].contains(error.code)
        {
            return
        }
        take(error, [], isSmooth: true, device)
    }

    /// Returns the share, as the server has it.
    private func share(in world: SimulatedWorld) async throws -> CKShare? {
        let database = try await observer(of: 0, in: world).privateCloudDatabase
        do {
            if plan.variant == .everything {
                let id = Device.id(CKRecordNameZoneWideShare)
                return try await database.record(for: id) as? CKShare
            }
            let root = try await database.record(
                for: Device.id("\(Self.table):\(SimulationWriter.root)")
            )
            guard let known = root.share else { return nil }
            return try await database.record(for: known.recordID) as? CKShare
        } catch let error as CKError where [.unknownItem, .zoneNotFound].contains(error.code) {
            return nil
        }
    }

    /// Returns the link of the share, if the other user may accept it.
    private func link(in world: SimulatedWorld) async throws -> URL? {
        let share = try await share(in: world)
        return share?.participants.contains { $0.role != .owner } == true ? share?.url : nil
    }

    /// Checks the other user's rows at rest.
    ///
    /// - Returns: The rows that the user's devices show.
    func checkSharing(in world: SimulatedWorld) async throws -> SimulatedApp.Contents {
        guard let first = devices.first(where: { $0.user != 0 }) else { return [:] }
        let owned = try devices[0].contents()
        let isWhole = plan.variant == .everything
        let tree = isWhole ? Set(owned.keys) : SimulationWriter.tree(owned)
        let participant = try await share(in: world)?.participants.first { $0.role != .owner }
        let hasPart = participant?.acceptanceStatus == .accepted
        let shown = try first.contents()
        for device in devices where device.user != 0 {
            let contents = try device.contents()
            problems += Self.differences(shown, contents, device.name, than: first.name)
            problems += Self.differences(
                owned.filter { hasPart && tree.contains($0.key) },
                contents.filter { owned[$0.key] != nil },
                device.name
            )
            world.trace.add("  \(device.name) shows \(contents.keys.sorted())")
            let barred = try device.barredRows()
            let expected = hasPart && participant?.permission == .readOnly ? tree : []
            if barred != expected {
                problems.append(
                    "I19: \(device.name) may not write \(barred.sorted()), "
                        + "which should be \(expected.sorted())"
                )
            }
        }
        return shown
    }
}
