import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Finds the caller of a request from its credentials, inside a read.
struct Authentication {
    let request: ServiceRequest
    let parameters: QueryParameters
    let environment: StoredEnvironment?
    let now: Int64

    /// The caller.
    ///
    /// - Throws: `RequestError` with `AUTHENTICATION_FAILED`.
    func caller(_ reader: any StorageReader) throws -> Caller {
        guard let apiToken = parameters["ckAPIToken"] else {
            throw failure("the request carries no credentials; add ckAPIToken to its query")
        }
        let apiHash = SecretHash.of(apiToken)
        guard let environment,
            let row = try reader.credential(.apiToken, hash: apiHash),
            row.environment == environment.id
        else {
            throw failure("ckAPIToken is not one of this container and environment")
        }
        guard let webToken = parameters["ckWebAuthToken"], !webToken.isEmpty else {
            return Caller(credential: .apiToken, user: nil)
        }
        // A plus sign that was not escaped arrives as a space.
        let hash = SecretHash.of(
            webToken.split(separator: " ", omittingEmptySubsequences: false)
                .joined(separator: "+")
        )
        guard let row = try reader.credential(.webToken, hash: hash),
            row.environment == environment.id, row.companion == apiHash,
            row.expires.map({ $0 > now }) ?? true,
            let user = try row.user.flatMap({ try reader.user($0) })
        else {
            throw failure("ckWebAuthToken is unknown, expired or of another API token")
        }
        return Caller(credential: .webToken, user: user)
    }

    private func failure(_ detail: String) -> RequestError {
        RequestError(.authenticationFailed, reason: "Authentication failed: \(detail)")
    }
}
