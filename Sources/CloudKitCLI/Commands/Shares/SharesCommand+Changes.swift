import ArgumentParser
import CloudKitWebClient

extension SharesCommand {
    /// Invites users.
    struct Invite: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "invite",
            abstract: "Invite users to a share of yours, or change their access."
        )

        @Argument(help: "The share's link.")
        var link: SharedLink

        @Argument(help: "The users' e-mail addresses or user record names.")
        var users: [String]

        @Option(help: "The users' access: read-only or read-write.")
        var access = ShareAccess.readWrite

        @OptionGroup(title: "Connection")
        var connection: ConnectionOptions

        @OptionGroup
        var output: OutputOptions

        func validate() throws {
            guard access != .none else {
                throw ValidationError("--access is read-only or read-write; see shares remove")
            }
        }

        func run() async throws {
            try await ShareChange.change(link, connection, output) { share in
                var participants = share.participants ?? []
                for user in users {
                    let index = participants.firstIndex { ShareChange.isParticipant($0, user) }
                    if let index {
                        participants[index].permission = access.permission
                    } else {
                        participants.append(participant(user))
                    }
                }
                share.participants = participants
            }
        }

        private func participant(_ user: String) -> WireParticipant {
            WireParticipant(
                type: .user,
                permission: access.permission,
                acceptanceStatus: nil,
                userIdentity: ParticipantIdentity(
                    userRecordName: nil,
                    lookupInfo: user.contains("@")
                        ? .init(emailAddress: user) : .init(userRecordName: user)
                )
            )
        }
    }

    /// Removes participants.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove participants from a share of yours."
        )

        @Argument(help: "The share's link.")
        var link: SharedLink

        @Argument(help: "The participants' e-mail addresses or user record names.")
        var users: [String]

        @OptionGroup(title: "Connection")
        var connection: ConnectionOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            try await ShareChange.change(link, connection, output) { share in
                for user in users {
                    let rest = share.participants?.filter { !ShareChange.isParticipant($0, user) }
                    guard rest?.count != share.participants?.count else {
                        throw CommandFailure(
                            "\(user) does not take part; cloudkit shares show lists who does"
                        )
                    }
                    share.participants = rest
                }
            }
        }
    }

    /// Changes the access of everyone.
    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "update",
            abstract: "Change the access of everyone with the link of a share of yours."
        )

        @Argument(help: "The share's link.")
        var link: SharedLink

        @Option(help: "The access of everyone with the link: none, read-only or read-write.")
        var everyone: ShareAccess

        @OptionGroup(title: "Connection")
        var connection: ConnectionOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            try await ShareChange.change(link, connection, output) { share in
                share.publicPermission = everyone.permission
            }
        }
    }

    /// Deletes a share, or leaves it.
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Stop sharing, or leave the share of somebody else; no record is deleted."
        )

        @Argument(help: "The share's link.")
        var link: SharedLink

        @OptionGroup(title: "Connection")
        var connection: ConnectionOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let client = try connection.client()
            let known = try await link.resolved(by: client)
            let isMine = known.databaseScope == "PRIVATE"
            let zoneID = WireZoneID(
                zoneName: known.zoneID.zoneName,
                ownerRecordName: isMine ? nil : known.zoneID.ownerRecordName
            )
            let share = WireRecord(recordName: known.share.recordName)
            try await RecordChanges(
                client: client,
                database: isMine ? .private : .shared,
                zoneID: zoneID
            ).send([RecordOperation(.forceDelete, share)], output) { records in
                var table = Table("deleted")
                for record in records { table.add([record.recordName ?? ""]) }
                return table
            }
        }
    }
}
