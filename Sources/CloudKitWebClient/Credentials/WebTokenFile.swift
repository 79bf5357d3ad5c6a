public import Foundation

/// A file that keeps a user's web auth token from one run of a process to the next.
///
/// The service answers each token with the next one; without the file a process that starts again
/// would show one that may have gone out of use. Only the file's owner can read it.
public struct WebTokenFile: Sendable {
    /// The file's place.
    public let url: URL

    /// Makes a description of a file, which need not exist yet.
    public init(_ url: URL) {
        self.url = url
    }

    /// The token that the file keeps; nil when there is none.
    public var token: String? {
        guard let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return token.isEmpty ? nil : token
    }

    /// Replaces the token; nil removes the file.
    ///
    /// The file is written beside and moved into place, so that no reader sees half a token.
    ///
    /// - Throws: When the file cannot be written.
    public func store(_ token: String?) throws {
        guard let token else {
            guard FileManager.default.fileExists(atPath: url.path) else { return }
            return try FileManager.default.removeItem(at: url)
        }
        let temporary = url.appendingPathExtension(UUID().uuidString)
        let made = FileManager.default.createFile(
            atPath: temporary.path,
            contents: Data(token.utf8),
            attributes: [.posixPermissions: 0o600]
        )
        guard made else { throw CocoaError(.fileWriteUnknown) }
        if FileManager.default.fileExists(atPath: url.path) {
            _ = try FileManager.default.replaceItemAt(url, withItemAt: temporary)
        } else {
            try FileManager.default.moveItem(at: temporary, to: url)
        }
    }
}

extension WebCredentials {
    /// Makes credentials whose web auth token a file keeps; the given token is the first one, until
    /// the file has a newer.
    public convenience init(apiToken: String, webAuthToken: String? = nil, file: WebTokenFile) {
        self.init(apiToken: apiToken, webAuthToken: file.token ?? webAuthToken) { token in
            // A token that cannot be kept still serves this run.
            try? file.store(token)
        }
    }
}
