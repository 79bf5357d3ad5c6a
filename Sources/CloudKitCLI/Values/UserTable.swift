import CloudKitWebClient

/// Users as tables for people.
enum UserTable {
    /// Returns a table with a row for each user that the service described.
    static func list(_ users: [UserIdentity]) -> Table {
        var table = Table("user", "name", "found by")
        for user in users {
            let name = [user.nameComponents?.givenName, user.nameComponents?.familyName]
            let info = user.lookupInfo
            table.add([
                user.userRecordName, name.compactMap(\.self).joined(separator: " "),
                info?.emailAddress ?? info?.phoneNumber ?? info?.userRecordName ?? "",
            ])
        }
        return table
    }

    /// Returns a table with a row for each user of a server's data.
    static func entries(_ users: [UserEntry]) -> Table {
        var table = Table("user", "name", "e-mail", "password")
        for user in users {
            table.add([
                user.userRecordName, user.fullName, user.emailAddress ?? "",
                user.hasPassword.map { $0 ? "yes" : "no" } ?? "",
            ])
        }
        return table
    }
}
