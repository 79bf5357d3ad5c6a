import ArgumentParser
import CloudKitWebClient
import Foundation

/// The link of a share, or its last part.
struct SharedLink: ExpressibleByArgument {
    /// The short ID of the share.
    let shortGUID: SharesRequest.ShortGUID

    /// Creates a link from text; nil for text without a short ID.
    init?(argument: String) {
        let address = argument.split(separator: "#").first ?? ""
        guard let name = address.split(separator: "/").last else { return nil }
        shortGUID = SharesRequest.ShortGUID(value: String(name))
    }

    /// Returns the share.
    ///
    /// - Throws: `CommandFailure` when the service does not show it, or `WebClientError`.
    func resolved(by client: WebClient) async throws -> ShareMetadata {
        let request = SharesRequest(shortGUIDs: [shortGUID])
        return try Self.only(try await client.resolveShares(request))
    }

    /// Accepts the invitation.
    ///
    /// - Throws: `CommandFailure` when the service refuses it, or `WebClientError`.
    func accepted(by client: WebClient) async throws -> ShareMetadata {
        let request = SharesRequest(shortGUIDs: [shortGUID])
        return try Self.only(try await client.acceptShares(request))
    }

    private static func only(_ response: SharesResponse) throws -> ShareMetadata {
        switch response.results.first {
        case .success(let metadata): return metadata
        case .failure(let error): throw CommandFailure(OutputOptions.text(error))
        case nil: throw CommandFailure("The service returned nothing for the share")
        }
    }
}
