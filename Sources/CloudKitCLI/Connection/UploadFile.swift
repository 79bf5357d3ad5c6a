import CloudKitWebClient
import Foundation

/// A plain file that can be uploaded.
struct UploadFile {
    private let url: URL
    private let size: Int64
    private let client: WebClient

    /// Checks a file before anything is sent.
    ///
    /// - Throws: `CommandFailure` for a file that cannot be read, has no size of its own as a pipe, or
    ///   is larger than iCloud's limit. Other services have limits of their own.
    init(_ url: URL, for client: WebClient) throws {
        let path = url.relativePath
        guard FileManager.default.isReadableFile(atPath: url.path) else {
            throw CommandFailure(unusable: "\(path): there is no file that can be read")
        }
        guard let size = Self.size(of: url.resolvingSymlinksInPath()) else {
            throw CommandFailure(
                unusable:
                    "\(path) is not a plain file, but a folder, a pipe or a device; write what "
                    + "is to be uploaded to a file"
            )
        }
        guard client.url != WebClient.appleURL || size <= Limits.assetBytes else {
            throw CommandFailure(
                unusable: "\(path) has \(Amount.text(Int(size), "byte")), and iCloud takes "
                    + "\(Limits.assetBytes) at most; make it smaller, or divide it"
            )
        }
        (self.url, self.size, self.client) = (url, size, client)
    }

    /// Uploads the file, and returns the value for the record's field.
    ///
    /// - Throws: `WebClientError`, or `CommandFailure` for a file that is too large for the service,
    ///   which compares the announced size with its limit before it reads the bytes.
    func send(
        to token: UploadAssetsResponse.Token,
        progress: @escaping TransferProgress = { _ in }
    ) async throws -> WireAsset {
        do {
            return try await client.upload(url, to: token, progress: progress)
        } catch {
            guard case .refused(let refusal, _) = error,
                refusal.nativeErrorCode == NativeErrorCode.limitExceeded.rawValue
            else { throw error }
            throw CommandFailure(
                "\(url.relativePath) has \(Amount.text(Int(size), "byte")), and was refused: "
                    + "\(refusal.reason ?? "it is too large"); make it smaller, or divide it; whoever "
                    + "runs the server can raise its --max-asset-bytes"
            )
        }
    }

    /// Returns the size of a regular file; nil when there is none.
    static func size(of file: URL) -> Int64? {
        // A file that is not there has none.
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
        return (attributes?[.size] as? NSNumber)?.int64Value
    }
}
