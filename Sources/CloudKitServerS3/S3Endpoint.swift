#if S3
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The server of an S3 storage: a scheme, a host, and a port if it is not the usual one.
package struct S3Endpoint: Hashable, Sendable {
    package let scheme: String
    /// The host with its port, as the header `Host` names it.
    package let authority: String

    /// Creates Amazon's endpoint of a region.
    init(region: String) {
        scheme = "https"
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        authority = "s3.\(region).\(domain)"
    }

    /// Creates an endpoint from a URL.
    ///
    /// - Throws: `S3SettingsError` for a URL with anything but a scheme, a host and a port.
    init(_ text: String) throws(S3SettingsError) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.encodedHost?.lowercased(),
            !host.isEmpty, parts.user == nil, parts.password == nil, parts.query == nil,
            parts.fragment == nil, ["", "/"].contains(parts.path)
        else {
            throw S3SettingsError(
                "\(S3Settings.Variable.endpoints[0]) is not the URL of a server alone, such as "
                    + "https://s3.example.com:9000, without a path and a user"
            )
        }
        self.scheme = scheme
        let usual = scheme == "https" ? 443 : 80
        // Clients leave the usual port out of the header, which the signature covers.
        authority = host + (parts.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? "")
    }
}
#endif
