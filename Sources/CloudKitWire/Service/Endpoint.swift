/// The part of a path that names the request, such as `records/modify`.
public enum Endpoint: String, Hashable, Sendable, CaseIterable {
    /// Changes records.
    case recordsModify = "records/modify"
    /// Fetches records by name.
    case recordsLookup = "records/lookup"
    /// Queries records.
    case recordsQuery = "records/query"
    /// Lists zones.
    case zonesList = "zones/list"
    /// Fetches zones by ID.
    case zonesLookup = "zones/lookup"
    /// Creates and deletes zones.
    case zonesModify = "zones/modify"
    /// Lists the zones that changed.
    case changesDatabase = "changes/database"
    /// Lists the records that changed.
    case changesZone = "changes/zone"
    /// Requests upload addresses for assets.
    case assetsUpload = "assets/upload"
    /// Returns the caller's identity.
    case usersCaller = "users/caller"
    /// Looks up users.
    case usersDiscover = "users/discover"
    /// Lists the caller's subscriptions.
    case subscriptionsList = "subscriptions/list"
    /// Fetches subscriptions by name.
    case subscriptionsLookup = "subscriptions/lookup"
    /// Creates and deletes subscriptions.
    case subscriptionsModify = "subscriptions/modify"
    /// Returns the targets of links to shares.
    case recordsResolve = "records/resolve"
    /// Accepts invitations to shares.
    case recordsAccept = "records/accept"
    /// Prepares assets of saved records for use in other records.
    case assetsRereference = "assets/rereference"
    /// Lists the records that changed in one zone; deprecated.
    case recordsChanges = "records/changes"
    /// Lists the zones that changed; deprecated.
    case zonesChanges = "zones/changes"
    /// Returns the caller's identity; deprecated.
    case usersCurrent = "users/current"
    /// Looks up users by email address; deprecated.
    case usersLookupEmail = "users/lookup/email"
    /// Looks up users by record name; deprecated.
    case usersLookupID = "users/lookup/id"
    /// Looks up the users in the caller's address book; deprecated.
    case usersLookupContacts = "users/lookup/contacts"
    /// Requests an archive of records' files.
    case recordsZipPrepare = "records/zip/prepare"
    /// Starts copying records into another zone.
    case recordsCopyStart = "records/copy/start"
    /// Returns the progress of a copy.
    case recordsCopyStatus = "records/copy/status"
    /// Runs several queries for records together.
    case recordsQueryBatch = "internal/records/query/batch"
    /// Requests a token and an address to wait for notifications at.
    case tokensCreate = "tokens/create"
    /// Registers a token to receive the container's notifications.
    case tokensRegister = "tokens/register"
}
