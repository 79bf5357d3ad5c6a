import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// The files in a server's folder with which local programs reach it; only their owner can read them.
///
/// A folder may have several containers: another container's file is left unchanged, and a more
/// specific name is used.
struct AccessFiles {
    private let directory: URL

    init(directory: String) {
        self.directory = URL(fileURLWithPath: directory, isDirectory: true)
    }

    private func text(of name: String) -> String? {
        // A file that is not there is written.
        try? String(contentsOf: directory.appendingPathComponent(name), encoding: .utf8)
    }

    /// Returns the possible names of the file with a container's API token.
    private func tokenFiles(_ container: String) -> [String] {
        ["api-token", "api-token-\(Self.plain(container))"]
    }

    /// Returns the file of a container's API token, with the token in it; the token is nil when
    /// there is none.
    private func tokenFile(
        of container: String,
        _ service: CloudService
    ) async throws -> (name: String, token: String?) {
        let names = tokenFiles(container)
        for name in names {
            let text = text(of: name).map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
            guard let token = text, !token.isEmpty else { return (name, nil) }
            // A token that the data does not know belongs to data that no longer exists.
            let owner = try await service.container(ofAPIToken: token)
            if owner == nil || owner == container { return (name, token) }
        }
        return (names.last ?? "", nil)
    }

    /// Returns the API token of an earlier start; nil at the first.
    func apiToken(of container: String, _ service: CloudService) async throws -> String? {
        try await tokenFile(of: container, service).token
    }

    /// The first line of the operators' file, which a user's file never has.
    private static let operatorHead = "# operators of the server, until it stops\n"

    /// Writes the file with which a shell finds the routes of operators.
    ///
    /// It is written before the users' files, because a user may be called Operator.
    ///
    /// - Returns: The file.
    func write(_ settings: ConnectionFile) throws -> URL {
        let file = directory.appendingPathComponent("operator.env")
        try PrivateFile.write(Self.operatorHead + settings.text + "\n", to: file.path)
        return file
    }

    /// Writes the token, and for each user a file that a shell can source.
    ///
    /// - Returns: The users' files, in the users' order.
    func write(_ access: ServerAccess, _ service: CloudService) async throws -> [URL] {
        let name = try await tokenFile(of: access.container, service).name
        try PrivateFile.write(
            access.apiToken + "\n",
            to: directory.appendingPathComponent(name).path
        )
        return try access.users.map { user in
            let owner = Self.owner(user.recordName, access.container)
            let name = environmentFile(of: user, access.container, owner)
            let file = directory.appendingPathComponent(name)
            try PrivateFile.write(owner + access.environment(of: user), to: file.path)
            return file
        }
    }

    /// Returns whether an earlier start wrote a file for a user.
    func hasFile(of user: ServiceUser, _ container: String) -> Bool {
        let owner = Self.owner(user.userRecordName, container)
        return Self.names(user.fullName, user.userRecordName, container).contains { name in
            text(of: name)?.hasPrefix(owner) == true
        }
    }

    /// Removes the file of a user who was deleted.
    func removeFile(of user: ServiceUser, _ container: String) throws {
        let owner = Self.owner(user.userRecordName, container)
        for name in Self.names(user.fullName, user.userRecordName, container)
        where text(of: name)?.hasPrefix(owner) == true {
            try FileManager.default.removeItem(at: directory.appendingPathComponent(name))
        }
    }

    /// Returns the first line of a user's file.
    private static func owner(_ recordName: String, _ container: String) -> String {
        "# \(recordName) of \(container)\n"
    }

    /// Returns the possible names of a user's file, the shortest first.
    private static func names(
        _ user: String,
        _ recordName: String,
        _ container: String
    ) -> [String] {
        let name = plain(user.lowercased())
        let longer = "\(name)-\(plain(container))"
        return ["\(name).env", "\(longer).env", "\(longer)-\(recordName.dropFirst()).env"]
    }

    /// Returns a name for a user's file that is free or already the user's.
    private func environmentFile(
        of user: ServerAccess.User,
        _ container: String,
        _ owner: String
    ) -> String {
        let names = Self.names(user.name, user.recordName, container)
        let free = names.dropLast().first { candidate in
            guard let text = text(of: candidate) else { return true }
            if text.hasPrefix("#") { return text.hasPrefix(owner) }
            // Files of earlier versions do not contain their owner.
            return text.split(separator: "\n").contains(
                "export \(ConnectionVariables.Name.container)=\(container)"
            )
        }
        return free ?? names[2]
    }

    private static func plain(_ text: String) -> String {
        String(text.map { $0.isLetter || $0.isNumber ? $0 : "-" })
    }
}
