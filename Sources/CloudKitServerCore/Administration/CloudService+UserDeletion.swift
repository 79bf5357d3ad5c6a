import CloudKitWire

extension CloudService {
    /// Deletes a user of a container, in both environments: the private databases with all zones,
    /// records and assets, and so what the user shared; the password, roles, sessions, keys,
    /// subscriptions and tokens for notifications.
    ///
    /// Participants see the shared zones as deleted. What the user saved in the public database and in
    /// other users' zones stays, and shares of others name the user until their owners remove it. A
    /// snapshot does not bring the user's zones back. Another process on the same storage may let the
    /// user in for five more seconds.
    ///
    /// - Parameter user: The user.
    /// - Throws: `RequestError` with `NOT_FOUND` for a user who does not exist, or `StorageError`;
    ///   nothing changes then.
    public func deleteUser(_ user: ServiceUser) async throws {
        let seal = try await seal()
        let now = clock.milliseconds
        let work = context.ownWork()
        let news = try await storage.writeExclusively { [randomness] writer in
            let row = try ContainerDirectory(user.container).user(user.userRecordName, writer)
            var news = PushNews()
            for kind in ServiceEnvironment.allCases {
                let environment = try Self.environment(user.container, kind, writer)
                var change = ZoneCommit(
                    call: Call(of: row, in: environment, .zonesModify, now: now, work),
                    writer: writer,
                    seal: seal,
                    randomness: randomness
                )
                try change.deleteAll()
                news.formUnion(change.news)
                for credential in try writer.credentials(environment.id)
                where credential.user == row.id {
                    try writer.removeCredential(credential.kind, hash: credential.hash)
                }
                try RoleDirectory(environment: environment.id).setRoles([], of: row.id, writer)
                for database in DatabaseScope.allCases {
                    let all = SubscriptionCollection(of: row.id, to: database, in: environment.id)
                    for subscription in try all.all(writer) { try all.remove(subscription, writer) }
                }
                try PushTokenDirectory().removeTokens(of: row.id, in: environment.id, writer)
            }
            try writer.removeDocument(AccountPasswords.collection(user.container), row.recordName)
            try writer.removeUser(row.id)
            return news
        }
        callers.removeAll()
        announce(news)
    }
}
