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

    /// The scope of a write to documents of the caller.
    var ownScope: WriteScope {
        caller.user.map { .user($0.id) }
            ?? .database(DatabaseKey(environment: environment.id, owner: nil))
    }

    /// Returns the scope of a write to a zone of the path's database, or to the database as a whole.
    ///
    /// A zone in the shared database is its owner's; without a name of an owner there is none to write to.
    func scope(of zone: WireZoneID? = nil) -> WriteScope {
        if let databaseKey { return .database(databaseKey) }
        guard let owner = zone?.ownerRecordName else { return ownScope }
        return .databaseNamed(
            DatabaseName(
                environment: environment.id,
                container: environment.container,
                owner: owner
            )
        )
    }

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
