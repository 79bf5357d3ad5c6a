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
    let database: DatabaseScope
    let now: Int64
    let seal: TokenSeal

    /// The caller.
    ///
    /// - Throws: `RequestError` with `AUTHENTICATION_FAILED`.
    func caller(_ reader: any StorageReader) throws -> Caller {
        if let signature = try ServerSignature(request) { return try caller(signature, reader) }
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
        let text = webToken.split(separator: " ", omittingEmptySubsequences: false)
            .joined(separator: "+")
        guard let token = WebToken(text, seal),
            let row = try reader.credential(.webToken, hash: token.hash),
            row.environment == environment.id, row.companion == apiHash,
            row.expires.map({ $0 > now }) ?? true,
            let user = try row.user.flatMap({ try reader.user($0) })
        else {
            throw failure("ckWebAuthToken is unknown, expired or of another API token")
        }
        return Caller(credential: .webToken, user: user, webToken: token)
    }

    /// The caller of a signed request.
    private func caller(
        _ signature: ServerSignature,
        _ reader: any StorageReader
    ) throws -> Caller {
        guard parameters["ckAPIToken"] == nil else {
            throw failure("a signature and ckAPIToken exclude each other")
        }
        guard let environment,
            let row = try reader.credential(
                .serverKey,
                hash: SecretHash.of(signature.keyID)
            ), row.environment == environment.id, let key = row.companion,
            let user = try row.user.flatMap({ try reader.user($0) })
        else { throw failure("the key is not one of this container and environment") }
        try signature.check(request, key: key, now: now)
        guard database == .public else {
            throw failure("a server-to-server key reaches the public database only")
        }
        return Caller(credential: .serverKey, user: user)
    }

    private func failure(_ detail: String) -> RequestError {
        RequestError(.authenticationFailed, reason: "Authentication failed: \(detail)")
    }
}
