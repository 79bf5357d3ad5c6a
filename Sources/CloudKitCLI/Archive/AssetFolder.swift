import CloudKitBasics
import CloudKitWebClient
import Foundation

/// The folder that holds the files of an export, named by their checksums.
struct AssetFolder {
    let url: URL

    init(path: String) {
        url = URL(fileURLWithPath: path, isDirectory: true)
    }

    /// Downloads an asset unless its file exists, and returns the file's name.
    ///
    /// - Throws: `CommandFailure` or `WebClientError`.
    func keep(_ asset: WireAsset, with client: WebClient) async throws -> String {
        let name = Self.name(of: asset)
        let file = url.appendingPathComponent(name)
        if let size = asset.size, UploadFile.size(of: file) == size { return name }
        // A file with its final name is complete.
        let part = url.appendingPathComponent(name + ".part")
        // Of an interrupted run; without one, there is nothing to remove.
        try? FileManager.default.removeItem(at: part)
        try await client.download(asset, to: part)
        guard rename(part.path, file.path) == 0 else {
            throw CommandFailure(unusable: "\(file.path) cannot be written")
        }
        return name
    }

    /// Returns the file with a name from an export's line; nil when the name leaves the folder or
    /// no such file exists.
    func file(named name: String) -> URL? {
        guard !name.isEmpty, name != ".", name != "..", !name.contains("/") else { return nil }
        let file = url.appendingPathComponent(name)
        return UploadFile.size(of: file) == nil ? nil : file
    }

    /// Creates the folder.
    func make() throws {
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure(
                unusable: "\(url.path) cannot be created: \(CommandFailure.reason(error))"
            )
        }
    }

    /// Returns the file name of an asset, with only the letters and digits of the service's checksum.
    private static func name(of asset: WireAsset) -> String {
        guard let checksum = asset.fileChecksum, !checksum.isEmpty else {
            return UUID().uuidString
        }
        let bytes = Data(base64Encoded: checksum) ?? Data(checksum.utf8)
        return String(Hexadecimal.text(bytes).prefix(200))
    }
}
