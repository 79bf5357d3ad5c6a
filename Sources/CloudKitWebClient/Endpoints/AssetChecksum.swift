import CloudKitWire
import Crypto
import Foundation
import NIOCore
import NIOFileSystem

/// Verifies the checksums of assets.
///
/// Apple's are 21 bytes of an algorithm that is not public. This package's server uses the SHA-256 of
/// the file: 32 bytes, by which these checksums are recognised.
enum AssetChecksum {
    private static let pieceLength = ByteCount.mebibytes(1)

    /// Checks a file against an asset's checksum, if its algorithm is known.
    @concurrent
    static func check(_ file: URL, against asset: WireAsset) async throws(WebClientError) {
        guard let expected = asset.fileChecksum.flatMap({ Data(base64Encoded: $0) }),
            expected.count == SHA256.byteCount, try await digest(of: file) != expected
        else { return }
        throw .unexpectedResponse(
            status: 200,
            message: "The bytes of an asset do not have its checksum"
        )
    }

    /// Returns the checksum of a file, which it reads on the threads for blocking file access.
    private static func digest(of file: URL) async throws(WebClientError) -> Data {
        do {
            return try await FileSystem.shared.withFileHandle(forReadingAt: FilePath(file.path)) {
                handle in
                var hash = SHA256()
                for try await piece in handle.readChunks(chunkLength: pieceLength) {
                    piece.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
                }
                // The stream of a cancelled task may end like a complete one.
                try Task.checkCancellation()
                return Data(hash.finalize())
            }
        } catch  where Task.isCancelled {
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
}
