import CloudKitBasics
import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A web auth token: a session, with the nonce of this token.
///
/// Only the session is stored, as a hash of its secret. A token is a signed statement about it, so
/// that every response can carry a new one without a write. It expires with its session, which each
/// use extends; `Authentication` checks that.
struct WebToken: Hashable, Sendable {
    /// The secret that only the session's tokens contain.
    var secret: [UInt8]
    /// A number that distinguishes the tokens of a session.
    var nonce: Int64

    private static let prefix = "158__54__"

    /// Returns the token as the client sends it.
    func text(_ seal: TokenSeal) -> String {
        var writer = TokenWriter()
        writer.append(secret)
        writer.append(nonce)
        return Self.prefix + seal.seal(writer.bytes, for: .webToken)
    }

    init(secret: [UInt8], nonce: Int64) {
        self.secret = secret
        self.nonce = nonce
    }

    /// Reads a token; returns nil if this service did not create it.
    init?(_ text: String, _ seal: TokenSeal) {
        guard text.hasPrefix(Self.prefix),
            let contents = seal.open(String(text.dropFirst(Self.prefix.count)), for: .webToken)
        else { return nil }
        var reader = TokenReader(contents)
        guard let secret = reader.data(), let nonce = reader.number(), reader.isAtEnd else {
            return nil
        }
        self.init(secret: secret, nonce: nonce)
    }

    /// The hash under which the session is stored.
    var hash: Data { SecretHash.of(Hexadecimal.text(secret)) }
}
