import Foundation

/// The address of a server, for messages: never with a path, a query or a password.
struct ServerAddress: Sendable {
    /// Scheme, host and port, such as `https://api.example.com`.
    let origin: String
    /// The host's name or number.
    let host: String
    /// `true` when the connection is encrypted.
    let isSecure: Bool

    /// An error that indicates an unusable address, without the address, which may contain secrets.
    struct Unusable: Error {
        let reason: String
    }

    /// Parses an address, which may continue with a path and a query.
    init(_ url: String) throws(Unusable) {
        guard !url.isEmpty else { throw Unusable(reason: "it is empty") }
        guard let scheme = url.range(of: "://").map({ url[..<$0.lowerBound].lowercased() }) else {
            throw Unusable(reason: "it has no scheme; begin it with http:// or https://")
        }
        guard scheme == "http" || scheme == "https" else {
            throw Unusable(reason: "its scheme is neither http nor https")
        }
        guard let parts = URLComponents(string: url, encodingInvalidCharacters: false) else {
            throw Unusable(
                reason: "it is not a URL; it may contain a space, another character that a URL "
                    + "cannot contain, or a port that is not a number"
            )
        }
        guard let host = parts.host, !host.isEmpty else { throw Unusable(reason: "it has no host") }
        if let port = parts.port, !(1...65_535).contains(port) {
            throw Unusable(reason: "its port is \(port), and ports go from 1 to 65535")
        }
        origin = "\(scheme)://\(host)" + (parts.port.map { ":\($0)" } ?? "")
        self.host = host
        isSecure = scheme == "https"
    }

    /// Returns the reason why an address is not that of a whole server; nil if it is.
    static func problem(ofServer url: String) -> String? {
        do {
            _ = try ServerAddress(url)
        } catch {
            return error.reason
        }
        let parts = URLComponents(string: url, encodingInvalidCharacters: false)
        if parts?.user != nil || parts?.password != nil {
            return "it holds a user's name or password, which requests do not carry"
        }
        if parts?.query != nil || parts?.fragment != nil {
            return "it ends with a query or a fragment"
        }
        return nil
    }
}

extension TransportError {
    /// Returns the error for an address to which nothing can be sent.
    static func badAddress(_ problem: String) -> TransportError {
        TransportError(.badAddress, message: "The server's address cannot be used: \(problem)")
    }
}
