import CloudKitWire
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server-to-server signature ("Accessing CloudKit Using a Server-to-Server Key").
struct ServerSignature {
    /// The maximum difference of the date in milliseconds, in either direction.
    static let window: Int64 = 10 * 60 * 1000

    let keyID: String
    private let date: String
    private let signature: Data

    /// Reads the headers; returns nil if there are none.
    ///
    /// - Throws: `RequestError` with `AUTHENTICATION_FAILED` when some are missing or invalid.
    init?(_ request: ServiceRequest) throws(RequestError) {
        let prefix = "X-Apple-CloudKit-Request-"
        guard let keyID = request.header(prefix + "KeyID") else { return nil }
        guard let date = request.header(prefix + "ISO8601Date"),
            let text = request.header(prefix + "SignatureV1"),
            let signature = Data(base64Encoded: text)
        else { throw Self.failure("the date or the signature is missing") }
        self.keyID = keyID
        self.date = date
        self.signature = signature
    }

    /// Checks the signature over the request as it was received.
    ///
    /// - Throws: `RequestError` with `AUTHENTICATION_FAILED`.
    func check(_ request: ServiceRequest, key: Data, now: Int64) throws(RequestError) {
        // The errors below name the part that cannot be read.
        guard let time = try? Date(date, strategy: .iso8601),
            abs(Int64(time.timeIntervalSince1970 * 1000) - now) <= Self.window
        else { throw Self.failure("the date '\(date)' is more than 10 minutes off") }
        // As above.
        guard let key = try? P256.Signing.PublicKey(x963Representation: key),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
        else { throw Self.failure("the signature is not one of ECDSA in DER") }
        let hash = Data(SHA256.hash(data: request.body)).base64EncodedString()
        // Clients either leave out the hash of an empty body or hash the empty string.
        let hashes = request.body.isEmpty ? [hash, ""] : [hash]
        let target = request.path + (request.query.map { "?" + $0 } ?? "")
        let isValid = hashes.contains { hash in
            key.isValidSignature(signature, for: Data("\(date):\(hash):\(target)".utf8))
        }
        guard isValid else { throw Self.failure("the signature does not fit the request") }
    }

    private static func failure(_ detail: String) -> RequestError {
        RequestError(.authenticationFailed, reason: "Authentication failed: \(detail)")
    }
}
