#if S3
import CloudKitBasics
import Crypto
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Signs requests to S3 with AWS Signature Version 4, in headers and in URLs.
package final class S3Signature: Sendable {
    /// The parts of a request that a signature covers.
    package struct Subject {
        var method: String
        /// The host with its port.
        var host: String
        /// The path, percent-encoded.
        var path: String
        var query: [(name: String, value: String)] = []
        /// Header fields other than those that the signature adds.
        var headers: [(name: String, value: String)] = []
        /// SHA-256 of the body, in hexadecimal digits.
        var payload: String

        /// Creates a subject.
        package init(
            method: String,
            host: String,
            path: String,
            query: [(name: String, value: String)] = [],
            headers: [(name: String, value: String)] = [],
            payload: String
        ) {
            self.method = method
            self.host = host
            self.path = path
            self.query = query
            self.headers = headers
            self.payload = payload
        }
    }

    /// The payload of URLs, whose bodies are unknown.
    package static let unsignedPayload = "UNSIGNED-PAYLOAD"
    /// The longest time for which a URL can be used, in seconds.
    package static let longestTime: Int64 = 7 * 24 * 60 * 60

    private static let algorithm = "AWS4-HMAC-SHA256"

    private let credentials: S3Credentials
    private let region: String
    private let service: String
    /// The key of the day that is in effect.
    private let key = Mutex<(day: Substring, key: SymmetricKey)?>(nil)

    package init(credentials: S3Credentials, region: String, service: String = "s3") {
        self.credentials = credentials
        self.region = region
        self.service = service
    }

    /// Returns the header fields of a signed request, without those that the client sends by itself.
    ///
    /// - Parameters:
    ///   - subject: The request.
    ///   - date: The time, such as `20260131T120000Z`.
    /// - Returns: The header fields, those of the subject among them.
    package func headers(of subject: Subject, date: String) -> [(name: String, value: String)] {
        var headers = subject.headers
        headers.append(("x-amz-content-sha256", subject.payload))
        headers.append(("x-amz-date", date))
        if let token = credentials.sessionToken { headers.append(("x-amz-security-token", token)) }
        let (text, names) = Self.canonical(subject, headers + [("host", subject.host)])
        let signature = signature(of: text, date)
        headers.append(
            (
                "authorization",
                "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope(date)), "
                    + "SignedHeaders=\(names), Signature=\(signature)"
            )
        )
        return headers + [("host", subject.host)]
    }

    /// Returns the query of a URL that can be used without credentials for a time.
    ///
    /// - Parameters:
    ///   - subject: The request; its payload and headers are not used.
    ///   - date: The time, such as `20260131T120000Z`.
    ///   - seconds: The seconds for which the URL can be used, at most those of a week.
    /// - Returns: The query with the signature at its end.
    package func presignedQuery(of subject: Subject, date: String, seconds: Int64) -> String {
        var subject = subject
        subject.payload = Self.unsignedPayload
        subject.query += [
            ("X-Amz-Algorithm", Self.algorithm),
            ("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope(date))"),
            ("X-Amz-Date", date),
            ("X-Amz-Expires", String(min(max(seconds, 1), Self.longestTime))),
            ("X-Amz-SignedHeaders", "host"),
        ]
        if let token = credentials.sessionToken {
            subject.query.append(("X-Amz-Security-Token", token))
        }
        let (text, _) = Self.canonical(subject, [("host", subject.host)])
        return S3Encoding.query(subject.query) + "&X-Amz-Signature=\(signature(of: text, date))"
    }

    /// Returns the canonical text of a request, and the names of its signed headers.
    package static func canonical(
        _ subject: Subject,
        _ headers: [(name: String, value: String)]
    ) -> (text: String, names: String) {
        let fields = headers.map { (name: $0.name.lowercased(), value: trimmed($0.value)) }
            .sorted { $0.name < $1.name }
        let names = fields.map(\.name).joined(separator: ";")
        let lines = fields.map { "\($0.name):\($0.value)\n" }.joined()
        let text =
            "\(subject.method)\n\(subject.path)\n\(S3Encoding.query(subject.query))\n\(lines)\n"
            + "\(names)\n\(subject.payload)"
        return (text, names)
    }

    /// Returns a value with single spaces and none at its ends.
    private static func trimmed(_ value: String) -> String {
        value.split(separator: " ").joined(separator: " ")
    }

    private func signature(of text: String, _ date: String) -> String {
        let hash = Hexadecimal.text(SHA256.hash(data: Data(text.utf8)))
        let whole = "\(Self.algorithm)\n\(date)\n\(scope(date))\n\(hash)"
        return Hexadecimal.text(Self.code(whole, with: key(of: date)))
    }

    private func scope(_ date: String) -> String {
        "\(date.prefix(8))/\(region)/\(service)/aws4_request"
    }

    /// Returns the key of a day, which is derived once for all of its requests.
    private func key(of date: String) -> SymmetricKey {
        let day = date.prefix(8)
        return key.withLock { known in
            if let known, known.day == day { return known.key }
            var key = SymmetricKey(data: Data("AWS4\(credentials.secretAccessKey)".utf8))
            for part in [String(day), region, service, "aws4_request"] {
                key = SymmetricKey(data: Self.code(part, with: key))
            }
            known = (day, key)
            return key
        }
    }

    private static func code(
        _ text: String,
        with key: SymmetricKey
    ) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
    }
}
#endif
