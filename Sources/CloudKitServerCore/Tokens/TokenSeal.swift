import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Creates tokens that only this service can create: contents with a signature.
///
/// A token for one purpose never opens as one for another.
struct TokenSeal: Sendable {
    /// The purpose of a token.
    enum Purpose: UInt8, CaseIterable {
        case databaseChanges = 1
        case zoneChanges, queryPage, upload, receipt, download, shareLink, sharedChanges, webToken,
            pushToken, archive
    }

    private static let signatureBytes = 16
    private static let nonceBytes = 12
    /// A code of nothing yet: a copy of it needs no key schedule.
    private let code: HMAC<SHA256>
    /// The keys for encrypted tokens.
    private let concealing: [Purpose: SymmetricKey]

    init(key: Data) {
        let code = HMAC<SHA256>(key: SymmetricKey(data: key))
        self.code = code
        concealing = Dictionary(
            uniqueKeysWithValues: Purpose.allCases.map { purpose in
                let secret = Self.secret(of: Array("conceal".utf8), for: purpose, code)
                return (purpose, SymmetricKey(data: secret))
            }
        )
    }

    /// Signs contents; returns base64.
    func seal(_ contents: [UInt8], for purpose: Purpose) -> String {
        Data(contents + signature(of: contents, for: purpose)).base64EncodedString()
    }

    /// Returns the contents of a token; nil if this service did not create it for this purpose.
    func open(_ token: String, for purpose: Purpose) -> [UInt8]? {
        guard let data = Data(base64Encoded: token), data.count >= Self.signatureBytes else {
            return nil
        }
        let contents = Array(data.dropLast(Self.signatureBytes))
        let expected = signature(of: contents, for: purpose)
        return isEqualInConstantTime(expected, Array(data.suffix(Self.signatureBytes)))
            ? contents : nil
    }

    /// Signs contents as `seal` does, in characters that need no escape in a URL.
    func sealForURL(_ contents: [UInt8], for purpose: Purpose) -> String {
        seal(contents, for: purpose).map { character in
            switch character {
            case "+": "-"
            case "/": "_"
            case "=": "."
            default: String(character)
            }
        }.joined()
    }

    /// Returns the contents of a token from `sealForURL`, as `open` does.
    func openFromURL(_ token: String, for purpose: Purpose) -> [UInt8]? {
        let base64 = token.map { character in
            switch character {
            case "-": "+"
            case "_": "/"
            case ".": "="
            default: String(character)
            }
        }.joined()
        return open(base64, for: purpose)
    }

    /// Returns a secret that only this service can compute, the same for the same contents.
    func secret(of contents: [UInt8], for purpose: Purpose) -> [UInt8] {
        Self.secret(of: contents, for: purpose, code)
    }

    private static func secret(
        of contents: [UInt8],
        for purpose: Purpose,
        _ code: HMAC<SHA256>
    ) -> [UInt8] {
        var code = code
        code.update(data: [purpose.rawValue] + contents)
        return Array(code.finalize())
    }

    /// Signs contents as `seal` does, and encrypts them.
    func conceal(_ contents: [UInt8], for purpose: Purpose) -> String {
        let nonce = secret(of: contents, for: purpose).prefix(Self.nonceBytes)
        // Both fail only for keys and nonces of another length.
        guard let nonce = try? AES.GCM.Nonce(data: nonce), let key = concealing[purpose],
            let box = try? AES.GCM.seal(contents, using: key, nonce: nonce),
            let data = box.combined
        else { preconditionFailure("A nonce has 12 bytes") }
        return data.base64EncodedString()
    }

    /// Returns the contents of a token from `conceal`; nil if this service did not create it for
    /// this purpose.
    func reveal(_ token: String, for purpose: Purpose) -> [UInt8]? {
        guard let data = Data(base64Encoded: token), let key = concealing[purpose],
            // Whoever sent anything else learns only that it is invalid.
            let box = try? AES.GCM.SealedBox(combined: data),
            let contents = try? AES.GCM.open(box, using: key)
        else { return nil }
        return Array(contents)
    }

    private func signature(of contents: [UInt8], for purpose: Purpose) -> [UInt8] {
        Array(secret(of: contents, for: purpose).prefix(Self.signatureBytes))
    }
}

/// Returns whether two values are equal, in a time that does not reveal where they differ.
package func isEqualInConstantTime(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    guard first.count == second.count else { return false }
    return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
}
