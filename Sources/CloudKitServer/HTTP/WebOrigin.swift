/// The origin of a web page or of an address: scheme, host and port, compared as a whole.
///
/// Only text with exactly the form of an origin is accepted. Text with a user, a path or anything
/// else that another reader could take for the host is refused, not trimmed.
struct WebOrigin: Hashable, Sendable {
    let scheme: String
    let host: HostName

    /// Reads an origin as browsers send it, such as `https://app.example.com:8443`.
    init?(_ text: String) {
        guard let end = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<end.lowerBound].lowercased()
        guard let first = scheme.utf8.first, Self.isLetter(first),
            scheme.utf8.dropFirst().allSatisfy({ Self.isLetter($0) || Self.isOther($0) }),
            var host = HostName(String(text[end.upperBound...]))
        else { return nil }
        // An implicit default port equals the same port written out.
        if host.port == nil { host.port = Self.ports[scheme] }
        self.scheme = scheme
        self.host = host
    }

    /// Reads the origin of an address that may have a path or a query.
    init?(ofAddress text: String) {
        guard let end = text.firstRange(of: "://") else { return nil }
        let rest = text[end.upperBound...]
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        self.init(text[..<end.upperBound] + host)
    }

    private static let ports = ["http": 80, "https": 443]

    /// The default port of the scheme.
    var port: Int? { Self.ports[scheme] }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func isOther(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
    }

    /// `true` when the origin is a page on this machine, on any port.
    var isLoopback: Bool { ["http", "https"].contains(scheme) && host.isLoopback }
}

extension WebOrigin {
    private init?(_ text: Substring) { self.init(String(text)) }
}

/// A host as it appears in `Host` and in URLs: a name or an address, with an optional port.
struct HostName: Hashable, Sendable {
    /// The name in lower case; for an IPv6 address, the part between the brackets.
    let name: String
    var port: Int?

    /// Reads a host; returns nil for anything else, such as a host preceded by a user.
    init?(_ text: String) {
        let text = text.lowercased()
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            name = String(text[text.index(after: text.startIndex)..<end])
            rest = text[text.index(after: end)...]
            guard name.contains(":"),
                name.utf8.allSatisfy({ Self.isHexadecimal($0) || ":.".utf8.contains($0) })
            else { return nil }
        } else {
            let found = text.prefix { $0 != ":" }
            name = String(found)
            rest = text[found.endIndex...]
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isOfName) else { return nil }
        }
        if rest.isEmpty { return }
        let digits = rest.dropFirst()
        guard rest.first == ":", (1...5).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = Int(digits), port <= 65535
        else { return nil }
        self.port = port
    }

    /// `true` when the name denotes this machine, regardless of where it is resolved.
    var isLoopback: Bool {
        name == "localhost" || name.hasSuffix(".localhost") || name == "::1"
            || Self.isLoopback4(name[...])
            || name.hasPrefix("::ffff:") && Self.isLoopback4(name.dropFirst("::ffff:".count))
    }

    private static func isLoopback4(_ name: Substring) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
