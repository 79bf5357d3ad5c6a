/// The paths at which asset bytes are transferred, outside the protocol's own paths.
public enum AssetRoute: Hashable, Sendable {
    /// A path to which bytes are posted; pass the token to `CloudService.receiveAsset`.
    case upload(token: String)
    /// A path from which bytes are downloaded; pass the token to `CloudService.openAsset`.
    case download(token: String)

    /// Reads a path; returns `nil` if it does not belong to an asset.
    public init?(path: some StringProtocol) {
        guard path.hasPrefix("/assets/") else { return nil }
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count >= 3, parts[0] == "assets" else { return nil }
        switch parts[1] {
        case "upload": self = .upload(token: String(parts[2]))
        case "download": self = .download(token: String(parts[2]))
        default: return nil
        }
    }

    /// The path; a download path may be followed by a slash and any file name.
    public var path: String {
        switch self {
        case .upload(let token): "/assets/upload/\(token)"
        case .download(let token): "/assets/download/\(token)"
        }
    }
}
