import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Determines the caller of a request from its credentials, and whether they have expired, inside a read.
struct Authentication {
    let request: ServiceRequest
    let credentials: Credentials
    let environment: StoredEnvironment?
    /// The container that the request names.
    let container: String
    let database: DatabaseScope
    let now: Int64
    /// `true` when the credentials of one container are valid for all.
    let sharesCredentials: Bool

    /// Returns the caller and the expiration time of its credentials, in milliseconds since
    /// 1970-01-01 UTC.
    ///
    /// - Throws: `RequestError` with `AUTHENTICATION_FAILED`, or with `AUTHENTICATION_REQUIRED` if
    ///   signing in again helps.
    func caller(_ reader: any StorageReader) throws -> (Caller, expires: Int64?) {
        if let signature = try ServerSignature(request) {
            return (try caller(signature, reader), nil)
        }
        guard let apiToken = credentials.apiToken else {
            throw failure("the request carries no credentials; add ckAPIToken to its query")
        }
        let apiHash = SecretHash.of(apiToken)
        let foreign = "ckAPIToken is not one of this container and environment"
        guard let row = try reader.credential(.apiToken, hash: apiHash) else {
            throw failure(foreign)
        }
        guard let environment, try isGood(row, in: environment, reader) else {
            throw try failure(foreign, credential: row, reader)
        }
        let limit = row.expires
        guard limit.map({ $0 > now }) ?? true else {
            throw failure("ckAPIToken has expired; request another")
        }
        if let name = credentials.userName {
            let user = try reader.users(container: environment.container)
                .first { $0.fullName == name }
            return (Caller(credential: .webToken, user: user), limit)
        }
        guard credentials.webTokenText != nil else {
            return (Caller(credential: .apiToken, user: nil), limit)
        }
        guard let token = credentials.webToken,
            let row = try reader.credential(.webToken, hash: token.hash),
            try isGood(row, in: environment, reader), row.companion == apiHash,
            row.expires.map({ $0 > now }) ?? true,
            let known = try row.user.flatMap({ try reader.user($0) }),
            let user = known.container == environment.container
                ? known
                : try reader.user(container: environment.container, recordName: known.recordName)
        else {
            // CloudKit JS offers to sign in again if the error requires it and has an address.
            throw RequestError(
                .authenticationRequired,
                reason: "Authentication failed: ckWebAuthToken is unknown, expired or of another "
                    + "API token; sign in again",
                redirectURL: SignInAddress.url(for: request, apiToken: apiToken)
            )
        }
        let roles = try RoleDirectory(environment: environment.id).roles(of: user.id, reader)
        return (
            Caller(credential: .webToken, user: user, webToken: token, roles: roles), row.expires
        )
    }

    /// Returns whether a credential may be used in an environment.
    private func isGood(
        _ row: StoredCredential,
        in environment: StoredEnvironment,
        _ reader: any StorageReader
    ) throws -> Bool {
        if row.environment == environment.id { return true }
        guard sharesCredentials else { return false }
        return try reader.environment(row.environment)?.kind == environment.kind
    }

    /// Returns the caller of a signed request.
    private func caller(
        _ signature: ServerSignature,
        _ reader: any StorageReader
    ) throws -> Caller {
        guard credentials.apiToken == nil else {
            throw failure("a signature and ckAPIToken exclude each other")
        }
        let foreign = "the key is not one of this container and environment"
        guard let row = try reader.credential(.serverKey, hash: SecretHash.of(signature.keyID)),
            let key = row.companion, let user = try row.user.flatMap({ try reader.user($0) })
        else { throw failure(foreign) }
        try signature.check(request, key: key, now: now)
        guard let environment, row.environment == environment.id else {
            throw try failure(foreign, credential: row, reader)
        }
        guard database == .public else {
            throw failure("a server-to-server key reaches the public database only")
        }
        let roles = try RoleDirectory(environment: environment.id).roles(of: user.id, reader)
        return Caller(credential: .serverKey, user: user, roles: roles)
    }

    /// Returns the error for a credential of another container or environment.
    ///
    /// Its reason states that the container does not match, but not whether a container of that
    /// name exists.
    private func failure(
        _ detail: String,
        credential row: StoredCredential,
        _ reader: any StorageReader
    ) throws -> RequestError {
        guard let home = try reader.environment(row.environment), home.container != container else {
            return failure(detail)
        }
        var error = failure("\(detail), or the service does not know the container '\(container)'")
        error.nativeErrorCode = NativeErrorCode.badContainer.rawValue
        return error
    }

    private func failure(_ detail: String) -> RequestError {
        RequestError(.authenticationFailed, reason: "Authentication failed: \(detail)")
    }
}
