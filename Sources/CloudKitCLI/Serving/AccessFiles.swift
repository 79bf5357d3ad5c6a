import CloudKitServerCore
import CloudKitWebClient
import Foundation

/// The files in a server's folder that tell local programs how to reach it; only their owner can
/// read them.
///
/// A folder may have several containers: a file that is another's is left alone, and a name that
/// tells more is taken.
struct AccessFiles {
    private let directory: URL

    init(directory: String) {
        self.directory = URL(fileURLWithPath: directory, isDirectory: true)
    }

    private func text(of name: String) -> String? {
        try? String(contentsOf: directory.appendingPathComponent(name), encoding: .utf8)
    }

    /// The names under which a container's API token may be.
    private func tokenFiles(_ container: String) -> [String] {
        ["api-token", "api-token-\(Self.plain(container))"]
    }

    /// The file of a container's API token, and the token in it; nil for the token where there is none.
    private func tokenFile(
        of container: String,
        _ service: CloudService
    ) async throws -> (name: String, token: String?) {
        let names = tokenFiles(container)
        for name in names {
            let text = text(of: name).map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
            guard let token = text, !token.isEmpty else { return (name, nil) }
            // A token that the data does not know is of data that is no more.
            let owner = try await service.container(ofAPIToken: token)
            if owner == nil || owner == container { return (name, token) }
        }
        return (names.last ?? "", nil)
    }

    /// The API token of an earlier start; nil at the first.
    func apiToken(of container: String, _ service: CloudService) async throws -> String? {
        try await tokenFile(of: container, service).token
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

    /// Whether an earlier start wrote a file for a user.
    func hasFile(of user: ServiceUser, _ container: String) -> Bool {
        let owner = Self.owner(user.userRecordName, container)
        return Self.names(user.fullName, user.userRecordName, container).contains { name in
            text(of: name)?.hasPrefix(owner) == true
        }
    }

    /// The first line of a user's file.
    private static func owner(_ recordName: String, _ container: String) -> String {
        "# \(recordName) of \(container)\n"
    }

    /// The names that a user's file may have, the shortest first.
    private static func names(
        _ user: String,
        _ recordName: String,
        _ container: String
    ) -> [String] {
        let name = plain(user.lowercased())
        let longer = "\(name)-\(plain(container))"
        return ["\(name).env", "\(longer).env", "\(longer)-\(recordName.dropFirst()).env"]
    }

    /// A name for a user's file that is free or the user's already.
    private func environmentFile(
        of user: ServerAccess.User,
        _ container: String,
        _ owner: String
    ) -> String {
        let names = Self.names(user.name, user.recordName, container)
        let free = names.dropLast().first { candidate in
            guard let text = text(of: candidate) else { return true }
            if text.hasPrefix("#") { return text.hasPrefix(owner) }
            // Files of earlier versions do not say whose they are.
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
