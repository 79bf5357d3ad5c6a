import CloudKit

/// Checks of the state after everything has come to rest.
extension Simulation {
    /// Activates the devices that do nothing automatically, until all have seen everything.
    mutating func settle() {
        guard devices.contains(where: { !$0.isAutomatic }) else { return }
        for _ in 0..<8 {
            for index in devices.indices where !devices[index].isAutomatic {
                for kind in [SyncEngineCall.Kind.fetch(.init()), .send(.init()), .send(.init())] {
                    call(index, kind)
                    drain()
                }
            }
        }
        for index in devices.indices where !devices[index].isAutomatic {
            fetch(index)
            drain()
        }
    }

    /// Restarts all apps: their stored data must be sufficient.
    mutating func restartAll() {
        guard problems.isEmpty else { return }
        for index in devices.indices { crash(index) }
        drain()
        settle()
    }

    mutating func checkPeace() {
        guard problems.isEmpty else { return }
        for (index, device) in devices.enumerated() {
            let state = device.machine.state
            if !device.openCalls.isEmpty { fail(index, "calls never returned") }
            if !state.pendingRecordZoneChanges.isEmpty || !state.pendingDatabaseChanges.isEmpty {
                fail(index, "still pending: \(state)")
            }
            if !state.unfetchedZones.isEmpty { fail(index, "not fetched: \(state)") }
            let saved = try? device.app.savedState?.contents.get()
            if saved?.description != state.description
                || saved?.databaseToken?.text != state.databaseToken?.text
                || saved?.zoneTokens != state.zoneTokens
            {
                fail(index, "the app was not given the last state")
            }
            checkRows(index)
        }
        checkEdits()
    }

    private mutating func checkRows(_ index: Int) {
        let device = devices[index]
        var server: [CKRecord.ID: [Int]] = [:]
        for (name, zone) in cloud.databases[device.owner]?.zones ?? [:] {
            for (record, contents) in zone.records {
                let recordID = CKRecord.ID(recordName: record, zoneID: .init(zoneName: name))
                server[recordID] = contents.fields
            }
        }
        let rows = device.app.rows(of: device.owner).mapValues(\.fields)
        guard rows != server else { return }
        let names = Set(rows.keys).union(server.keys).filter { rows[$0] != server[$0] }
        let texts = names.map {
            "\($0.zoneID.zoneName)/\($0.recordName): \(rows[$0] ?? []) here, \(server[$0] ?? []) there"
        }
        fail(index, "differs from the server: \(texts.sorted().joined(separator: "; "))")
    }

    /// Checks that every edit is on the server, unless a later one of the same field or a deletion
    /// replaced it.
    private mutating func checkEdits() {
        for user in edits.keys.sorted() {
            let records = cloud.databases[user]?.zones[Self.lastingZone]?.records ?? [:]
            let lost = (edits[user] ?? [:]).filter { recordID, fields in
                !deleted.contains(recordID.recordName)
                    && records[recordID.recordName]?.fields != fields
            }
            // Another user's device may have made edits whose owner has not signed in to send them.
            guard devices.contains(where: { $0.owner == user }) else { continue }
            for (recordID, fields) in lost.sorted(by: { $0.key.recordName < $1.key.recordName }) {
                let found = records[recordID.recordName]?.fields ?? []
                if isLeftBehind(recordID, fields, user) { continue }
                problems.append("an edit of \(recordID.recordName) was lost: \(fields), \(found)")
            }
        }
    }

    /// Returns whether an edit waits on a device where its user is no longer signed in.
    private func isLeftBehind(_ recordID: CKRecord.ID, _ fields: [Int], _ user: String) -> Bool {
        devices.contains { $0.owner != user && $0.app.unsent[user]?.contains(recordID) ?? false }
    }

    private mutating func fail(_ index: Int, _ text: String) {
        problems.append("device \(index) of \(devices[index].owner): \(text)")
    }
}
