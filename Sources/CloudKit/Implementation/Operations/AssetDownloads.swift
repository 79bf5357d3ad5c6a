import CloudKitFiles
import CloudKitWebClient
import CloudKitWire
import Foundation

/// The files of fetched assets, each downloaded once even if several fields hold it.
struct AssetDownloads: Sendable {
    /// The maximum number of concurrent downloads.
    private static let width = 4

    private var assets: [WireAsset: Result<CKAsset, CKError>] = [:]

    /// Downloads the files of assets; a file is deleted with its `CKAsset`, unless its URL was read.
    ///
    /// `progress` receives the downloaded part of each asset, from 0 to 1.
    init(
        of wanted: [WireAsset],
        client: WebClient,
        into files: PrivateFiles,
        progress: @escaping @Sendable (WireAsset, Double) -> Void = { _, _ in }
    ) async {
        guard !wanted.isEmpty else { return }
        var rest = Set(wanted).makeIterator()
        assets = await withTaskGroup(of: (WireAsset, Result<CKAsset, CKError>).self) { group in
            for _ in 0..<Self.width {
                guard let asset = rest.next() else { break }
                group.addTask { (asset, await Self.download(asset, client, files, progress)) }
            }
            var results: [WireAsset: Result<CKAsset, CKError>] = [:]
            for await (asset, result) in group {
                results[asset] = result
                if let asset = rest.next() {
                    group.addTask { (asset, await Self.download(asset, client, files, progress)) }
                }
            }
            return results
        }
    }

    /// Returns the asset with its file; one that was not to be downloaded has no file.
    func asset(_ wire: WireAsset) -> CKAsset {
        // A failed download is its record's error, unless the service has lost the file.
        (try? assets[wire]?.get())
            ?? CKAsset(fileURL: nil, remote: RemoteAsset(wire: wire, file: nil))
    }

    /// Returns the error that left one of these assets without a file; nil if all were downloaded.
    ///
    /// With `passesLost`, a file that the service does not have is no failure.
    func failure(in wanted: [WireAsset], passingLost passesLost: Bool) -> CKError? {
        for asset in wanted {
            guard case .failure(let error) = assets[asset], !passesLost || !error.isOfLostFile
            else { continue }
            return error
        }
        return nil
    }

    private static func download(
        _ asset: WireAsset,
        _ client: WebClient,
        _ files: PrivateFiles,
        _ progress: @escaping @Sendable (WireAsset, Double) -> Void
    ) async -> Result<CKAsset, CKError> {
        do {
            let file = try files.newPlace()
            try await client.download(asset, to: file) { progress(asset, $0) }
            files.take(file)
            return .success(
                CKAsset(fileURL: file, remote: RemoteAsset(wire: asset, file: file, of: files))
            )
        } catch let error as WebClientError {
            return .failure(CKError(error))
        } catch {
            return .failure(
                CKError(
                    .assetNotAvailable,
                    message: "No file can be created for the asset: \(error)",
                    cause: error
                )
            )
        }
    }
}

extension CKError {
    /// `true` when the service does not have an asset's file.
    fileprivate var isOfLostFile: Bool {
        (userInfo[NSUnderlyingErrorKey] as? TransportError)?.code == .notFound
    }
}
