/// A user of a container as operators see it.
public struct ServiceUser: Hashable, Sendable {
    /// The container's identifier.
    public var container: String
    /// The record name of the user's record: `_` and 32 hexadecimal digits.
    public var userRecordName: String
    /// The given name.
    public var givenName: String?
    /// The family name.
    public var familyName: String?
    /// The e-mail address by which others find the user.
    public var emailAddress: String?

    /// Creates a user from a stored row.
    init(_ row: StoredUser) {
        container = row.container
        userRecordName = row.recordName
        givenName = row.givenName
        familyName = row.familyName
        emailAddress = row.emailAddress
    }
}

extension ServiceUser {
    /// The given and the family name.
    package var fullName: String {
        [givenName, familyName].compactMap(\.self).joined(separator: " ")
    }
}
