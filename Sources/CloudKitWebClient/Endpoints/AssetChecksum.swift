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
    @concurrent
    static func check(_ file: URL, against asset: WireAsset) async throws(WebClientError) {
        guard let expected = asset.fileChecksum.flatMap({ Data(base64Encoded: $0) }),
            expected.count == SHA256.byteCount, try digest(of: file) != expected
        else { return }
        throw .unexpectedAnswer(
            status: 200,
            message: "The bytes of an asset do not have its checksum"
        )
    }

    private static func digest(of file: URL) throws(WebClientError) -> Data {
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            var hash = SHA256()
            repeat { try Task.checkCancellation() } while try update(&hash, from: handle)
            return Data(hash.finalize())
        } catch is CancellationError {
            throw WebClientError(thrown: CancellationError())
        } catch {
            throw .transport(
                TransportError(
                    .fileUnusable,
                    message: "The asset's file \(file.path) cannot be read: \(error)",
                    cause: error
                )
            )
        }
    }

    /// Takes one piece of a file into a hash; false at its end.
    private static func update(_ hash: inout SHA256, from handle: FileHandle) throws -> Bool {
        func update() throws -> Bool {
            guard let piece = try handle.read(upToCount: pieceBytes), !piece.isEmpty else {
                return false
            }
            hash.update(data: piece)
            return true
        }
        #if canImport(Darwin)
        // Each piece would stay until the last one was read.
        return try autoreleasepool { try update() }
        #else
        return try update()
        #endif
    }
}
