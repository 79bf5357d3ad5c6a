import CloudKitServerCore

/// A user in a server's data, in the output of `--json`.
struct UserEntry: Codable, Hashable, Sendable {
    let userRecordName: String
    let givenName: String?
    let familyName: String?
    let emailAddress: String?
    /// `true` for a user with a password; nil if it was not looked up.
    let hasPassword: Bool?

    init(_ user: ServiceUser, hasPassword: Bool? = nil) {
        self.hasPassword = hasPassword
        userRecordName = user.userRecordName
        givenName = user.givenName
        familyName = user.familyName
        emailAddress = user.emailAddress
    }

    /// The given and the family name.
    var fullName: String { [givenName, familyName].compactMap(\.self).joined(separator: " ") }

    /// Returns the place of the user with a record name, an e-mail address or a full name.
    ///
    /// - Throws: `CommandFailure` when there is none, or more than one.
    static func index(
        of text: String,
        in users: [UserEntry],
        _ container: String
    ) throws -> Int {
        let found = users.indices.filter { index in
            users[index].userRecordName == text || users[index].emailAddress == text.lowercased()
                || users[index].fullName == text
        }
        guard let first = found.first else {
            throw CommandFailure(
                "No user \(text) in \(container); add one with cloudkit users add"
            )
        }
        guard found.count == 1 else {
            let names = found.map { users[$0].userRecordName }.joined(separator: ", ")
            throw CommandFailure("\(found.count) users match \(text); give one of \(names)")
        }
        return first
    }
}
