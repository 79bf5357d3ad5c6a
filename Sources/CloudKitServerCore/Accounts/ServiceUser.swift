/// A user of a container, as administration knows one.
public struct ServiceUser: Hashable, Sendable {
    /// The container's identifier.
    public var container: String
    /// The name of the user's record: `_` and 32 hexadecimal digits.
    public var userRecordName: String
    /// Given name.
    public var givenName: String?
    /// Family name.
    public var familyName: String?
    /// E-mail address by which others find the user.
    public var emailAddress: String?

    /// Makes a user from a stored row.
    init(_ row: StoredUser) {
        container = row.container
        userRecordName = row.recordName
        givenName = row.givenName
        familyName = row.familyName
        emailAddress = row.emailAddress
    }
}
