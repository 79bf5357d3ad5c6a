import Crypto
import Foundation

/// A server-to-server key: its identifier and its private half.
///
/// Requests carry an ECDSA signature over P-256 and SHA-256 of the date, the body's hash and the
/// request target ("Accessing CloudKit Using a Server-to-Server Key" in Apple's reference).
public struct ServerKey: Sendable {
    /// An error that indicates that a private key cannot be used.
    public struct UnreadableKey: Error, CustomStringConvertible {
        /// A description of the expected key and of the remedy.
        public let description: String
    }

    /// The key's identifier, as the container's console shows it.
    public let keyID: String

    private let privateKey: P256.Signing.PrivateKey

    /// Creates a key from its private half in PEM form, as `openssl ecparam -name prime256v1 -genkey`
    /// writes it.
    ///
    /// - Throws: `UnreadableKey` when the text holds no private key of that curve.
    public init(keyID: String, privateKeyPEM: String) throws(UnreadableKey) {
        self.keyID = keyID
        // OpenSSL may write the curve's parameters in a block of their own before the key.
        let start = privateKeyPEM.range(of: "-----BEGIN EC PRIVATE KEY-----")?.lowerBound
        do {
            privateKey = try P256.Signing.PrivateKey(
                pemRepresentation: String(privateKeyPEM[(start ?? privateKeyPEM.startIndex)...])
            )
        } catch {
            throw UnreadableKey(
                description: "The server-to-server key is not a P-256 private key in PEM form; "
                    + "make one with openssl ecparam -name prime256v1 -genkey -noout"
            )
        }
    }

    /// Creates the private half of a new key, in PEM form.
    public static func makePrivateKeyPEM() -> String {
        P256.Signing.PrivateKey().pemRepresentation
    }

    /// The public half in PEM form, to be registered with the container.
    public var publicKeyPEM: String { privateKey.publicKey.pemRepresentation }

    /// Returns the header fields that sign a request to a target, the path with its query.
    func headers(target: String, body: Data, date: Date) -> [String: String] {
        let time = date.formatted(Date.ISO8601FormatStyle())
        let hash = Data(SHA256.hash(data: body)).base64EncodedString()
        let message = Data("\(time):\(hash):\(target)".utf8)
        var headers = [
            "X-Apple-CloudKit-Request-KeyID": keyID,
            "X-Apple-CloudKit-Request-ISO8601Date": time,
        ]
        // Signing fails only when the process's random source does; the service then refuses the
        // request, which carries no signature.
        if let signature = try? privateKey.signature(for: message) {
            headers["X-Apple-CloudKit-Request-SignatureV1"] =
                signature.derRepresentation.base64EncodedString()
        }
        return headers
    }
}

extension ServerKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The key's identifier, which is no secret, without its private half.
    public var description: String { "server-to-server key \(keyID)" }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// A mirror without the private half.
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}
