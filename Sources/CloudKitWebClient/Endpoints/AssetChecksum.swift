import CloudKitWire
import Crypto
import Foundation

/// What the checksums of assets tell.
///
/// Apple's are 21 bytes of an algorithm that is not public. This package's server names the SHA-256
/// of the file: 32 bytes, which is how such checksums are recognised.
enum AssetChecksum {
    private static let pieceBytes = 1 << 20

    /// Checks a file against an asset's checksum, where its algorithm is known.
    static func check(_ file: URL, against asset: WireAsset) throws(WebClientError) {
        guard let expected = asset.fileChecksum.flatMap({ Data(base64Encoded: $0) }),
            expected.count == SHA256.byteCount, let found = digest(of: file), found != expected
        else { return }
        throw .unexpectedAnswer(
            status: 200,
            message: "The bytes of an asset do not have its checksum"
        )
    }

    private static func digest(of file: URL) -> Data? {
        guard let handle = try? FileHandle(forReadingFrom: file) else { return nil }
        defer { try? handle.close() }
        var hash = SHA256()
        do {
            while let piece = try handle.read(upToCount: pieceBytes), !piece.isEmpty {
                hash.update(data: piece)
            }
        } catch {
            return nil
        }
        return Data(hash.finalize())
    }
}
