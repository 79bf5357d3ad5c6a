import CloudKitWire

/// The deletion of users with all that is theirs.
struct UserDeletion: Sendable {
    let context: ServiceContext

    /// Deletes a user of a container, in both environments: the private databases with all zones,
    /// records and assets, and so what the user shared; the password, roles, sessions, keys,
    /// subscriptions and tokens for notifications.
    func delete(_ user: ServiceUser) async throws {
        let seal = try await context.seal()
        let now = context.clock.milliseconds
        let work = context.ownWork()
        let news = try await context.storage.writeExclusively { writer in
            writer.announceChangedCallers()
            let directory = ContainerDirectory(user.container)
            let row = try directory.user(user.userRecordName, writer)
            var news = PushNews()
            for environment in try directory.environments(writer) {
                var change = ZoneCommit(
                    call: Call(of: row, in: environment, .zonesModify, now: now, work),
                    writer: writer,
                    seal: seal,
                    randomness: context.randomness
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
        context.callers.removeAll()
        context.pushes.announce(news)
    }
}
