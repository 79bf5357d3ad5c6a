import CloudKitWire

extension Call {
    /// The key of the path's database; nil for the shared one, which has no rows of its own.
    var databaseKey: DatabaseKey? {
        switch path.database {
        case .public: DatabaseKey(environment: environment.id, owner: nil)
        case .private: caller.user.map { DatabaseKey(environment: environment.id, owner: $0.id) }
        case .shared: nil
        }
    }

    /// The scope of a write to the path's database: anything, where it is not known before the zone was
    /// looked up.
    var scope: WriteScope { databaseKey.map { .database($0) } ?? .everything }

    /// Returns the name of a zone of the path's database; nil if it belongs to another user.
    func ownZoneName(_ id: WireZoneID) -> String? {
        guard path.database != .shared else { return nil }
        let owner = id.explicitOwner
        return owner == nil || owner == caller.user?.recordName ? id.zoneName : nil
    }

    /// Returns what nearly every request reads, and what one of them adds.
    func needs(_ add: (inout StorageNeeds) -> Void) -> StorageNeeds {
        var needs = StorageNeeds(in: databaseKey)
        needs.environments.insert(environment.id)
        if let user = caller.user { needs.users.insert(user.id) }
        if path.database == .shared, let user = caller.user {
            ShareDirectory(environment: environment.id).addNeeds(of: user.id, to: &needs)
        }
        add(&needs)
        return needs
    }
}
