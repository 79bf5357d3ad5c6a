public import CloudKitWire
public import Foundation

extension WebClient {
    /// Requests upload addresses for at most 200 files, in the order of the tokens.
    public func uploadTokens(
        _ request: UploadAssetsRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> UploadAssetsResponse {
        let response: UploadAssetsResponse = try await call(.assetsUpload, in: database, request)
        return try response.sorted(as: request.tokens)
    }

    /// Uploads a file to the address in a token, and returns the value for the record's field.
    public func upload(
        _ file: URL,
        to token: UploadAssetsResponse.Token,
        progress: @escaping TransferProgress = { _ in }
    ) async throws(WebClientError) -> WireAsset {
        try checkSignIn()
        do throws(WebClientError) {
            let response: TransportResponse
            do {
                response = try await transport.upload(
                    file,
                    to: token.url,
                    timeout: timeout,
                    progress: progress
                )
            } catch {
                throw WebClientError(thrown: error)
            }
            let errors = Redaction.errors { Redaction(link: token.url, credentials) }
            return try Self.read(AssetUploadReceipt.self, from: response, errors).singleFile
        } catch {
            throw failure(of: token.url, error)
        }
    }

    /// Downloads an asset's bytes into a new file.
    ///
    /// A file whose size, or whose checksum if its algorithm is known, does not match is not kept.
    public func download(
        _ asset: WireAsset,
        to file: URL,
        progress: @escaping TransferProgress = { _ in }
    ) async throws(WebClientError) {
        guard let template = asset.downloadURL else {
            throw .transport(
                TransportError(.fileUnusable, message: "The server sent an asset without an URL")
            )
        }
        try checkSignIn()
        try Self.checkRoom(for: asset, at: file)
        // `${f}` is a placeholder for any file name ("Asset Dictionary").
        let link = template.replacing("${f}", with: file.lastPathComponent)
        do {
            try await transport.download(
                link,
                to: file,
                size: asset.size,
                timeout: timeout,
                progress: progress
            )
        } catch {
            // The name of the file is not part of the secret.
            throw failure(of: template, WebClientError(thrown: error))
        }
        do {
            try Self.check(file, against: asset)
            // Apple's checksums have an unknown algorithm.
            if url != Self.appleURL { try await AssetChecksum.check(file, against: asset) }
        } catch {
            // The download's own error is the one to report.
            try? FileManager.default.removeItem(at: file)
            throw error
        }
    }

    /// Returns the reason for a failed transfer: an unusable address is the server's mistake, not the
    /// app's.
    private func failure(of link: String, _ error: WebClientError) -> WebClientError {
        let error = Redaction(link: link, credentials).clean(error)
        guard case .transport(let failure) = error, failure.code == .badAddress else {
            return error
        }
        return .unexpectedResponse(
            status: 200,
            message: "An address of a file that the server sent: \(failure.message)"
        )
    }

    /// Throws an error if the user of the transfer is no longer signed in.
    private func checkSignIn() throws(WebClientError) {
        if let signIn { _ = try credentials.webAuthToken(under: signIn) }
    }

    /// Throws an error if the disk has no room for the file.
    private static func checkRoom(
        for asset: WireAsset,
        at file: URL
    ) throws(WebClientError) {
        guard let size = asset.size else { return }
        guard size >= 0 else {
            throw .unexpectedResponse(status: 200, message: "The asset has \(size) bytes")
        }
        let folder = file.deletingLastPathComponent().path
        // Some file systems do not know their free space, and report nothing or 0.
        let facts = try? FileManager.default.attributesOfFileSystem(forPath: folder)
        guard let free = (facts?[.systemFreeSize] as? NSNumber)?.int64Value, free > 0, size > free
        else { return }
        throw .transport(
            TransportError(
                .fileUnusable,
                message: "The asset has \(size) bytes, and the disk of \(folder) has \(free) free"
            )
        )
    }

    /// Checks the size of a download: a device on the way may have replied for the service.
    private static func check(
        _ file: URL,
        against asset: WireAsset
    ) throws(WebClientError) {
        // An additional check: the checksum, if there is one, needs no size.
        let facts = try? FileManager.default.attributesOfItem(atPath: file.path)
        guard let expected = asset.size, let found = (facts?[.size] as? NSNumber)?.int64Value,
            found != expected
        else { return }
        throw .unexpectedResponse(
            status: 200,
            message: "An asset of \(expected) bytes arrived with \(found)"
        )
    }
}
