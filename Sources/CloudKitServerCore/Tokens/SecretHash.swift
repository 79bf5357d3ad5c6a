import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The form in which a secret is stored and looked up: its SHA-256.
///
/// Secrets are random and long, so a plain hash cannot be reversed; because rows are found by the
/// hash, the time of a look-up reveals nothing about the secret.
enum SecretHash {
    static func of(_ secret: String) -> Data { Data(SHA256.hash(data: Data(secret.utf8))) }
}
