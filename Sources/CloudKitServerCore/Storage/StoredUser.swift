/// A user of a container.
public struct StoredUser: Hashable, Sendable {
    /// The row.
    public var id: RowID<StoredUser>
    /// The container's identifier; empty for a deleted user, whose row stays because zones and shares
    /// name it.
    public var container: String
    /// The record name of the user's record: `_` and 32 hexadecimal digits.
    public var recordName: String
    /// The given name.
    public var givenName: String?
    /// The family name.
    public var familyName: String?
    /// The e-mail address, in lower case, by which others find the user.
    public var emailAddress: String?

    /// Creates a row.
    public init(
        id: RowID<StoredUser>,
        container: String,
        recordName: String,
        givenName: String? = nil,
        familyName: String? = nil,
        emailAddress: String? = nil
    ) {
        self.id = id
        self.container = container
        self.recordName = recordName
        self.givenName = givenName
        self.familyName = familyName
        self.emailAddress = emailAddress
    }
}

extension StoredUser {
    /// The given and the family name.
    var fullName: String { [givenName, familyName].compactMap(\.self).joined(separator: " ") }

    /// Creates a user that has no row and no record name yet.
    init(container: String, fullName: String) {
        let words = fullName.split(separator: " ")
        self.init(
            id: RowID(rawValue: 0),
            container: container,
            recordName: "",
            givenName: words.first.map(String.init),
            familyName: words.count > 1 ? words.dropFirst().joined(separator: " ") : nil
        )
    }
}
