import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes tokens that only this service can have made: contents and a signature over them.
///
/// A token of one purpose never opens as one of another.
struct TokenSeal: Sendable {
    /// What a token is for.
    enum Purpose: UInt8, CaseIterable {
        case databaseChanges = 1
        case zoneChanges, queryPage, upload, receipt, download, shareLink, sharedChanges, webToken,
            pushToken, archive
    }

    private static let signatureBytes = 16
    private static let nonceBytes = 12
    private let key: SymmetricKey
    /// The keys of what nobody else can read.
    private let concealing: [Purpose: SymmetricKey]

    init(key: Data) {
        let key = SymmetricKey(data: key)
        self.key = key
        concealing = Dictionary(
            uniqueKeysWithValues: Purpose.allCases.map { purpose in
                let secret = Self.secret(of: Array("conceal".utf8), for: purpose, key)
                return (purpose, SymmetricKey(data: secret))
            }
        )
    }

    /// Signs contents; the answer is base64.
    func seal(_ contents: [UInt8], for purpose: Purpose) -> String {
        Data(contents + signature(of: contents, for: purpose)).base64EncodedString()
    }

    /// The contents of a token; nil when it was not made here for this purpose.
    func open(_ token: String, for purpose: Purpose) -> [UInt8]? {
        guard let data = Data(base64Encoded: token), data.count >= Self.signatureBytes else {
            return nil
        }
        let contents = Array(data.dropLast(Self.signatureBytes))
        let expected = signature(of: contents, for: purpose)
        return isEqualInConstantTime(expected, Array(data.suffix(Self.signatureBytes)))
            ? contents : nil
    }

    /// As `seal`, in characters that need no escape in a URL.
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

    /// As `open`, for what `sealForURL` made.
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

    /// A secret that only this service can make, the same for the same contents.
    func secret(of contents: [UInt8], for purpose: Purpose) -> [UInt8] {
        Self.secret(of: contents, for: purpose, key)
    }

    private static func secret(
        of contents: [UInt8],
        for purpose: Purpose,
        _ key: SymmetricKey
    ) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: [purpose.rawValue] + contents, using: key))
    }

    /// As `seal`, with contents that nobody else can read.
    func conceal(_ contents: [UInt8], for purpose: Purpose) -> String {
        let nonce = secret(of: contents, for: purpose).prefix(Self.nonceBytes)
        guard let nonce = try? AES.GCM.Nonce(data: nonce), let key = concealing[purpose],
            let box = try? AES.GCM.seal(contents, using: key, nonce: nonce),
            let data = box.combined
        else { preconditionFailure("A nonce has 12 bytes") }
        return data.base64EncodedString()
    }

    /// The contents of what `conceal` made; nil when it was not made here for this purpose.
    func reveal(_ token: String, for purpose: Purpose) -> [UInt8]? {
        guard let data = Data(base64Encoded: token), let key = concealing[purpose],
            let box = try? AES.GCM.SealedBox(combined: data),
            let contents = try? AES.GCM.open(box, using: key)
        else { return nil }
        return Array(contents)
    }

    private func signature(of contents: [UInt8], for purpose: Purpose) -> [UInt8] {
        Array(secret(of: contents, for: purpose).prefix(Self.signatureBytes))
    }
}

/// Whether two values are equal, found out in a time that does not tell where they differ.
package func isEqualInConstantTime(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    guard first.count == second.count else { return false }
    return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
}
