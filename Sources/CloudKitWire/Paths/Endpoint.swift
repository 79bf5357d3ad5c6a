/// The part of a path that says what is asked, such as `records/modify`.
public enum Endpoint: String, Hashable, Sendable, CaseIterable {
    /// Changes records.
    case recordsModify = "records/modify"
    /// Fetches records by name.
    case recordsLookup = "records/lookup"
    /// Searches records.
    case recordsQuery = "records/query"
    /// Lists zones.
    case zonesList = "zones/list"
    /// Fetches zones by identity.
    case zonesLookup = "zones/lookup"
    /// Makes and deletes zones.
    case zonesModify = "zones/modify"
    /// Lists the zones that changed.
    case changesDatabase = "changes/database"
    /// Lists the records that changed.
    case changesZone = "changes/zone"
    /// Asks where assets may be uploaded to.
    case assetsUpload = "assets/upload"
    /// Says who the caller is.
    case usersCaller = "users/caller"
    /// Finds users.
    case usersDiscover = "users/discover"
    /// Lists the caller's subscriptions.
    case subscriptionsList = "subscriptions/list"
    /// Fetches subscriptions by name.
    case subscriptionsLookup = "subscriptions/lookup"
    /// Makes and deletes subscriptions.
    case subscriptionsModify = "subscriptions/modify"
    /// Says what links to shares stand for.
    case recordsResolve = "records/resolve"
    /// Accepts invitations to shares.
    case recordsAccept = "records/accept"
    /// Makes assets of saved records fit to be set in others.
    case assetsRereference = "assets/rereference"
    /// Lists the records that changed in one zone; deprecated.
    case recordsChanges = "records/changes"
    /// Lists the zones that changed; deprecated.
    case zonesChanges = "zones/changes"
    /// Says who the caller is; deprecated.
    case usersCurrent = "users/current"
    /// Finds users by e-mail address; deprecated.
    case usersLookupEmail = "users/lookup/email"
    /// Finds users by record name; deprecated.
    case usersLookupID = "users/lookup/id"
    /// Finds the users in the caller's address book; deprecated.
    case usersLookupContacts = "users/lookup/contacts"
    /// Asks for an archive of records' files.
    case recordsZipPrepare = "records/zip/prepare"
    /// Begins to copy records into another zone.
    case recordsCopyStart = "records/copy/start"
    /// Says how far a copy is.
    case recordsCopyStatus = "records/copy/status"
    /// Searches records by several queries at once.
    case recordsQueryBatch = "internal/records/query/batch"
    /// Asks for a token and a place to wait for notifications at.
    case tokensCreate = "tokens/create"
    /// Lets a token receive the container's notifications.
    case tokensRegister = "tokens/register"
}
