public import CloudKitWire
public import Foundation

extension WebClient {
    /// Asks where at most 200 files may be uploaded to; answers in the order of the tokens.
    public func uploadTokens(
        _ request: UploadAssetsRequest,
        in database: DatabaseScope
    ) async throws(WebClientError) -> UploadAssetsResponse {
        let response: UploadAssetsResponse = try await call(.assetsUpload, in: database, request)
        return try response.sorted(as: request.tokens)
    }

    /// Uploads a file to where a token says, and answers what the record's field is set to.
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
            throw Redaction(link: token.url, credentials).clean(error)
        }
    }

    /// Downloads an asset's bytes into a new file.
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
        // `${f}` stands for any file name ("Asset Dictionary").
        let url = template.replacing("${f}", with: file.lastPathComponent)
        do {
            try await transport.download(url, to: file, timeout: timeout, progress: progress)
        } catch {
            throw Redaction(link: url, credentials).clean(WebClientError(thrown: error))
        }
        try Self.check(file, against: asset)
    }

    /// Moves no file for a user who is not signed in any more.
    private func checkSignIn() throws(WebClientError) {
        if let signIn { _ = try credentials.webAuthToken(under: signIn) }
    }

    /// Removes a file that is not the asset: something on the way may have answered for the service.
    private static func check(
        _ file: URL,
        against asset: WireAsset
    ) throws(WebClientError) {
        let facts = try? FileManager.default.attributesOfItem(atPath: file.path)
        guard let expected = asset.size, let found = (facts?[.size] as? NSNumber)?.int64Value,
            found != expected
        else { return }
        try? FileManager.default.removeItem(at: file)
        throw .unexpectedAnswer(
            status: 200,
            message: "An asset of \(expected) bytes came with \(found)"
        )
    }
}
