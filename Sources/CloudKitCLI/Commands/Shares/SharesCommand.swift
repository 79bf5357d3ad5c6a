import ArgumentParser
import CloudKitWebClient
import Foundation

/// A command that lists and changes shares, and accepts invitations to them.
struct SharesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shares",
        abstract: "List, create, change and accept shares.",
        discussion: """
            A share is named by its link, or by the last part of the link. What a participant sees \
            is in the participant's shared database: see cloudkit records changes --database shared.
            """,
        subcommands: [
            List.self, Show.self, Create.self, Invite.self, Remove.self, Update.self, Delete.self,
            Accept.self,
        ]
    )
}

extension SharesCommand {
    /// Lists shares.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the shares that you own, and those that you accepted.",
            discussion: "Reads the change feeds of all zones, which takes long for large ones."
        )

        @OptionGroup(title: "Place")
        var place: DatabaseOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let client = try place.connection.client()
            var found: [ItemResult<WireRecord>] = []
            for database in place.database.map({ [$0] }) ?? [.private, .shared] {
                let zones = try await client.listZones(in: database).zones
                // A zone that the server cannot list has no shares to show.
                for zone in zones.compactMap({ try? $0.get().zoneID }) where !zone.isDefault {
                    found += try await Self.shares(in: zone, database, client)
                }
            }
            try output.write(found, ShareTable.list)
        }

        private static func shares(
            in zoneID: WireZoneID,
            _ database: DatabaseScope,
            _ client: WebClient
        ) async throws -> [ItemResult<WireRecord>] {
            var pages = ZoneFeedReader(
                client: client,
                database: database,
                zoneID: zoneID,
                recordTypes: [WireRecord.shareType],
                syncToken: nil
            )
            var found: [ItemResult<WireRecord>] = []
            while let page = try await pages.next() {
                for record in page {
                    let record = record.map { record in
                        var record = record
                        record.zoneID = zoneID
                        return record
                    }
                    // A failed item is kept, so that its error is shown.
                    if (try? record.get())?.deleted != true { found.append(record) }
                }
            }
            return found
        }
    }

    /// Prints one share.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print what a link leads to, and who takes part."
        )

        @Argument(help: "The share's link.")
        var link: SharedLink

        @OptionGroup(title: "Connection")
        var connection: ConnectionOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            try write(try await link.resolved(by: try connection.client()), output)
        }

        private func write(_ metadata: ShareMetadata, _ output: OutputOptions) throws {
            guard !output.json else { return try output.write(metadata) }
            var parts = [
                metadata.rootRecordName.map { "Record \($0) in zone" } ?? "The whole zone",
                metadata.zoneID.zoneName,
            ]
            if let owner = metadata.zoneID.ownerRecordName { parts += ["of", owner] }
            try Console.write(DisplayText(parts.joined(separator: " ")).text)
            let title = ShareTable.title(of: metadata.share)
            if !title.isEmpty { try Console.write("Title: \(DisplayText(title).text)") }
            let everyone = ShareAccess.text(metadata.share.shareParts?.publicPermission)
            try Console.write("Everyone with the link: \(everyone)")
            try Console.write(ShareTable.participants([metadata.share]))
        }
    }

    /// Creates a share.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Share a zone of yours, or a record with all records below it."
        )

        /// The record name of the share of a whole zone.
        private static let zoneShare = "cloudkit.zoneshare"

        @Option(help: "The zone's name.")
        var zone: String

        @Option(help: "The record's name; the whole zone is shared when it is omitted.")
        var record: String?

        @Option(help: "The title that people see.")
        var title: String?

        @Option(help: "The access of everyone with the link: none, read-only or read-write.")
        var everyone = ShareAccess.none

        @OptionGroup(title: "Connection")
        var connection: ConnectionOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let zoneID = WireZoneID(zoneName: zone)
            var share = WireRecord(
                recordName: record == nil ? Self.zoneShare : UUID().uuidString,
                recordType: WireRecord.shareType
            )
            share.shareParts = WireShare(
                forRecord: record.map { WireShare.Root(recordName: $0) },
                publicPermission: everyone.permission
            )
            if let title { share.fields["cloudkit.title"] = WireField(.string(title)) }
            try await ShareChange(client: try connection.client(), zoneID: zoneID)
                .send(.create, share, output)
        }
    }

    /// Accepts a share.
    struct Accept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: "Accept an invitation; the records are then in your shared database."
        )

        @Argument(help: "The share's link.")
        var link: SharedLink

        @OptionGroup(title: "Connection")
        var connection: ConnectionOptions

        @OptionGroup
        var output: OutputOptions

        func run() async throws {
            let metadata = try await link.accepted(by: try connection.client())
            guard !output.json else { return try output.write(metadata) }
            let owner = metadata.zoneID.ownerRecordName ?? ""
            let place = "--database shared --zone \(metadata.zoneID.zoneName) --owner \(owner)"
            Console.say("The records are in \(DisplayText(place).text)")
        }
    }
}
