import CloudKitWire

/// The permissions of a caller for records, by role in the public database.
struct RecordPermissions: Sendable {
    let scope: DatabaseScope
    let caller: Caller

    /// Refuses a new record that no role of the caller may create.
    func checkCreate(_ type: RecordTypeSchema, _ name: String) throws {
        try check(.create, type, creator: nil, "CREATE", name)
    }

    /// Refuses a change that no role of the caller may make.
    func checkWrite(_ type: RecordTypeSchema, _ record: StoredRecord) throws {
        try check(.write, type, creator: record.created.user, "WRITE", record.name)
    }

    /// Returns whether the caller may read a record.
    func mayRead(_ type: RecordTypeSchema, creator: String) -> Bool {
        allows(.read, type, creator: creator)
    }

    private func check(
        _ grant: RecordTypeSchema.Grant,
        _ type: RecordTypeSchema,
        creator: String?,
        _ word: String,
        _ name: String
    ) throws {
        guard !allows(grant, type, creator: creator) else { return }
        throw RecordFailure(.accessDenied, "\(word) operation not permitted on '\(name)'")
    }

    private func allows(
        _ grant: RecordTypeSchema.Grant,
        _ type: RecordTypeSchema,
        creator: String?
    ) -> Bool {
        guard scope == .public else { return true }
        return roles(creator: creator).contains { type.grants[$0]?.contains(grant) ?? false }
    }

    private func roles(creator: String?) -> [String] {
        guard let user = caller.user else { return ["_world"] }
        let roles = ["_world", "_icloud"] + caller.roles
        return creator == user.recordName ? roles + ["_creator"] : roles
    }
}
