import CloudKitWebClient

/// Shares as tables for people.
enum ShareTable {
    /// Returns a table with a row for each share.
    static func list(_ shares: [WireRecord]) -> Table {
        var table = Table("share", "zone", "title", "owner", "everyone", "participants", "link")
        for share in shares {
            let parts = share.shareParts
            let owner = parts?.owner.map { name(of: $0.userIdentity) } ?? ""
            table.add([
                share.recordName ?? "", share.zoneID?.zoneName ?? "", title(of: share), owner,
                ShareAccess.text(parts?.publicPermission),
                String(parts?.participants?.count ?? 0), share.shortGUID ?? "",
            ])
        }
        return table
    }

    /// Returns a table with a row for each participant of each share.
    static func participants(_ shares: [WireRecord]) -> Table {
        var table = Table("participant", "name", "role", "access", "state")
        for participant in shares.flatMap({ $0.shareParts?.participants ?? [] }) {
            let identity = participant.userIdentity
            let parts = identity?.nameComponents
            let name = [parts?.givenName, parts?.familyName].compactMap(\.self)
            table.add([
                Self.name(of: identity), name.joined(separator: " "),
                participant.type?.rawValue ?? "", ShareAccess.text(participant.permission),
                participant.acceptanceStatus?.rawValue ?? "",
            ])
        }
        return table
    }

    /// Returns the title of a share; empty if it has none.
    static func title(of share: WireRecord) -> String {
        share.fields["cloudkit.title"]?.value.map(ValueText.text) ?? ""
    }

    private static func name(of identity: ParticipantIdentity?) -> String {
        let info = identity?.lookupInfo
        return identity?.userRecordName ?? info?.emailAddress ?? info?.phoneNumber ?? ""
    }
}
