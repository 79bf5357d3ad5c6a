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
        try write(access.apiToken + "\n", to: tokenFile)
        return try access.users.map { user in
            let name = user.name.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "-" }
            let file = directory.appendingPathComponent("\(String(name)).env")
            try write(access.environment(of: user), to: file)
            return file
        }
    }

    private func write(_ text: String, to file: URL) throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: file.path) { try manager.removeItem(at: file) }
        guard
            manager.createFile(
                atPath: file.path,
                contents: Data(text.utf8),
                attributes: [.posixPermissions: 0o600]
            )
        else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file.path])
        }
    }
}
