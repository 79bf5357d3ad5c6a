import Foundation

/// The files in a server's folder that tell local programs how to reach it; only their owner can
/// read them.
struct AccessFiles {
    private let directory: URL

    init(directory: String) {
        self.directory = URL(fileURLWithPath: directory, isDirectory: true)
    }

    private var tokenFile: URL { directory.appendingPathComponent("api-token") }

    /// The API token of an earlier start; nil at the first.
    func apiToken() -> String? {
        (try? String(contentsOf: tokenFile, encoding: .utf8))
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
            .flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Writes the token, and for each user a file that a shell can source.
    ///
    /// - Returns: The users' files, in the users' order.
    func write(_ access: ServerAccess) throws -> [URL] {
        try PrivateFile.write(access.apiToken + "\n", to: tokenFile.path)
        return try access.users.map { user in
            let name = user.name.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "-" }
            let file = directory.appendingPathComponent("\(String(name)).env")
            try PrivateFile.write(access.environment(of: user), to: file.path)
            return file
        }
    }
}
