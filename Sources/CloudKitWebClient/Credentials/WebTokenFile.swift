public import Foundation

/// A file that keeps a user's web auth token from one run of a process to the next.
///
/// The service answers each token with the next one; without the file a process that starts again
/// would show one that may have gone out of use. Only the file's owner can read it.
public struct WebTokenFile: Sendable {
    /// Why a token cannot be kept.
    public struct Unwritable: Error, CustomStringConvertible {
        /// The file, and what the system says.
        public let description: String
    }

    /// The file's place.
    public let url: URL

    /// Makes a description of a file, which need not exist yet.
    public init(_ url: URL) {
        self.url = url
    }

    /// The token that the file keeps; nil when there is none.
    public var token: String? {
        // No file and one that cannot be read are the same to the service: it asks to sign in.
        guard let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return token.isEmpty ? nil : token
    }

    /// Replaces the token; nil removes the file.
    ///
    /// The file is written beside, synced and moved into place in one step: at any moment, also
    /// after a loss of power, there is the old token or the new one.
    ///
    /// - Throws: `Unwritable` when the file cannot be written; the old one is then as it was.
    public func store(_ token: String?) throws {
        // A link goes on to lead to the file.
        let place = url.resolvingSymlinksInPath()
        guard let token else {
            guard unlink(place.path) == 0 else { return try Self.check(errno == ENOENT, place) }
            return try Self.sync(place.deletingLastPathComponent())
        }
        let temporary = place.appendingPathExtension(UUID().uuidString)
        do {
            try Self.write(token, to: temporary)
            // Unlike FileManager's replacement, which on Linux removes the file that is there first.
            try Self.check(rename(temporary.path, place.path) == 0, place)
        } catch {
            _ = unlink(temporary.path)
            throw error
        }
        try Self.sync(place.deletingLastPathComponent())
    }

    private static func write(_ token: String, to file: URL) throws {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try check(descriptor >= 0, file)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        // The bytes are checked when they are written; there is nothing to do for a failed close.
        defer { try? handle.close() }
        try handle.write(contentsOf: Data(token.utf8))
        try handle.synchronize()
    }

    /// Makes what happened in a folder last.
    private static func sync(_ folder: URL) throws {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        try check(descriptor >= 0, folder)
        defer { _ = close(descriptor) }
        try check(fsync(descriptor) == 0, folder)
    }

    private static func check(_ isDone: Bool, _ file: URL) throws {
        guard !isDone else { return }
        throw Unwritable(
            description: "The token cannot be kept in \(file.path): "
                + String(cString: strerror(errno))
        )
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
