import CloudKitServerCore

extension CloudService {
    /// Returns the user with a record name, an e-mail address or a full name.
    ///
    /// - Throws: `CommandFailure` when there is none, or more than one.
    func user(_ text: String, in container: String) async throws -> ServiceUser {
        let users = try await users(container: container)
        return users[try UserEntry.index(of: text, in: users.map { UserEntry($0) }, container)]
    }
}
