#if S3
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The settings of an S3 storage: its bucket, its server, and the credentials for it.
package struct S3Settings: Sendable {
    /// The ways in which a URL names a bucket.
    package enum Addressing: String, CaseIterable, Sendable {
        /// In the path for a server of one's own, and in the host name at Amazon.
        case automatic = "auto"
        /// In the path: `https://host/bucket/key`.
        case path
        /// In the host name: `https://bucket.host/key`.
        case host
    }

    /// The names of the environment's variables, which other tools for S3 read too.
    package enum Variable {
        static let accessKeyID = "AWS_ACCESS_KEY_ID"
        static let secretAccessKey = "AWS_SECRET_ACCESS_KEY"
        static let sessionToken = "AWS_SESSION_TOKEN"
        static let regions = ["AWS_REGION", "AWS_DEFAULT_REGION"]
        static let endpoints = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]
    }

    /// The bucket.
    package let bucket: String
    /// The beginning of all keys, without a slash at its end; empty for none.
    package let prefix: String
    /// The region of the bucket.
    package let region: String
    /// The server, without the bucket.
    package let endpoint: S3Endpoint
    /// A Boolean value that indicates whether URLs name the bucket in their path.
    package let isPathStyle: Bool
    package let credentials: S3Credentials
    /// A Boolean value that indicates whether clients download from S3 itself.
    package var downloadsDirectly = false
    /// The folder for uploads that are still arriving; nil for the system's temporary folder.
    package var spoolFolder: String?

    /// The address of the bytes, such as `s3://bucket/prefix`.
    package var location: String { "s3://" + bucket + (prefix.isEmpty ? "" : "/" + prefix) }

    /// Returns whether an address is meant for S3.
    package static func isAddress(_ text: String) -> Bool { text.hasPrefix("s3://") }

    /// Creates settings from an address and the environment.
    ///
    /// - Parameters:
    ///   - address: The address, such as `s3://bucket/prefix`.
    ///   - variables: The environment.
    ///   - addressing: The way in which URLs name the bucket.
    /// - Throws: `S3SettingsError` for an invalid address or variable, and for a missing variable.
    package init(
        address: String,
        variables: [String: String],
        addressing: Addressing = .automatic
    ) throws(S3SettingsError) {
        (bucket, prefix) = try Self.parts(of: address)
        func value(_ names: [String]) -> String? {
            names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
        }
        func needed(_ names: [String], _ meaning: String) throws(S3SettingsError) -> String {
            guard let value = value(names) else {
                throw S3SettingsError(
                    "\(names[0]) is missing in the environment: \(meaning), for \(address)"
                )
            }
            guard value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw S3SettingsError(
                    "\(names[0]) has a space, a line break or another character that it cannot have"
                )
            }
            return value
        }
        credentials = S3Credentials(
            accessKeyID: try needed([Variable.accessKeyID], "the identifier of an access key"),
            secretAccessKey: try needed([Variable.secretAccessKey], "the secret of the access key"),
            sessionToken: value([Variable.sessionToken]) == nil
                ? nil : try needed([Variable.sessionToken], "the token of temporary credentials")
        )
        let region = try needed(
            Variable.regions,
            "the region of the bucket, such as eu-central-1; a server of your own often takes us-east-1"
        )
        guard region.utf8.allSatisfy({ Self.isNameByte($0) }) else {
            throw S3SettingsError("\(Variable.regions[0]) is '\(region)', which is no region")
        }
        self.region = region
        let own = value(Variable.endpoints)
        endpoint =
            try own.map { (text) throws(S3SettingsError) in try S3Endpoint(text) }
            ?? S3Endpoint(region: region)
        // A wildcard certificate covers no bucket with a dot in its name.
        isPathStyle =
            addressing == .path
            || addressing == .automatic && (own != nil || bucket.contains("."))
    }

    /// Returns the bucket and the prefix of an address.
    private static func parts(
        of address: String
    ) throws(S3SettingsError) -> (bucket: String, prefix: String) {
        let rest = address.dropFirst("s3://".count)
        let bucket = String(rest.prefix { $0 != "/" })
        guard isAddress(address), isBucket(bucket) else {
            throw S3SettingsError(
                "'\(address)' is no address of a bucket; one is s3://my-bucket/assets, with 3 to 63 "
                    + "lowercase letters, digits, hyphens and dots in the bucket's name"
            )
        }
        var prefix = rest.dropFirst(bucket.count + 1)
        if prefix.last == "/" { prefix = prefix.dropLast() }
        let parts = prefix.split(separator: "/", omittingEmptySubsequences: false)
        let isClean =
            prefix.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"?#\\".utf8.contains($0) }
            && parts.allSatisfy { !["", ".", ".."].contains($0) }
        guard prefix.isEmpty || isClean, prefix.utf8.count <= 512 else {
            throw S3SettingsError(
                "'\(address)' has a prefix that is no path: parts between single slashes, without . and "
                    + "..; spaces, ?, # and \\ are not allowed, and no more than 512 bytes"
            )
        }
        return (bucket, String(prefix))
    }

    private static func isBucket(_ name: String) -> Bool {
        (3...63).contains(name.utf8.count)
            && name.utf8.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: ".") }
            && name.first != "-" && name.last != "-" && !name.contains("..")
            && name.first != "." && name.last != "."
    }

    /// Returns whether a byte is a lowercase letter, a digit or a hyphen.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
    }
}
#endif
