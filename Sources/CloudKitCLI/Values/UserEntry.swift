import CloudKitServerCore

/// A user in a server's data, in the output of `--json`.
struct UserEntry: Codable, Hashable, Sendable {
    let userRecordName: String
    let givenName: String?
    let familyName: String?
    let emailAddress: String?
    let hasPassword: Bool

    init(_ user: ServiceUser, hasPassword: Bool) {
        self.hasPassword = hasPassword
        userRecordName = user.userRecordName
        givenName = user.givenName
        familyName = user.familyName
        emailAddress = user.emailAddress
    }
}
