import CloudKitWire

extension CloudService {
    /// Refuses a request whose path or credentials are none, before its body is read.
    ///
    /// Nothing is counted and no token is used up: the request is looked at again when it is whole.
    /// The signature of a key covers the body; of it, only the key is checked here.
    ///
    /// - Parameter request: The request without its body.
    /// - Returns: The answer to a path that takes no body; nil where the body is needed.
    /// - Throws: `RequestError`, as `respond(to:)` would answer it.
    package func precheck(_ request: ServiceRequest) async throws -> ServiceResponse? {
        if request.path == CourierRoute.path { return nil }
        if DeviceRoute.isMissed(by: request) { return missedDeviceRoute(request) }
        let (path, _) = try route(request)
        let credentials = Credentials(
            request,
            try await seal(),
            acceptsUserNames: configuration.acceptsUserNames
        )
        if let signature = try ServerSignature(request) {
            return try await storage.read { reader in
                guard
                    let row = try reader.credential(
                        .serverKey,
                        hash: SecretHash.of(signature.keyID)
                    ), row.companion != nil
                else {
                    throw RequestError(
                        .authenticationFailed,
                        reason: "Authentication failed: the key is not one of this container and "
                            + "environment"
                    )
                }
                return nil
            }
        }
        let now = clock.milliseconds
        let key = credentials.cacheKey(path)
        var entry = key.flatMap { callers.entry($0, now: now) }
        if entry == nil {
            let found = try await find(credentials, request, path, now)
            if let key { callers.insert(found, for: key) }
            entry = found
        }
        // Only the public database is anybody's.
        guard path.database == .public || entry?.caller.user != nil else {
            throw RequestError(
                .authenticationRequired,
                reason: "request needs authorization",
                redirectURL: SignInAddress.url(for: request, apiToken: credentials.apiToken)
            )
        }
        return nil
    }

    /// Seven eighths: a session that is used often is written down every other day, not each time.
    private static func isDue(_ expires: Int64, _ now: Int64, _ life: Int64) -> Bool {
        expires - now < life - life / 8
    }

    /// Prolongs the session of a token that is used; nil when it need not be or has ended.
    ///
    /// - Returns: When it ends now, in milliseconds since 1970-01-01 UTC.
    func prolong(_ token: WebToken, expires: Int64, now: Int64) async throws -> Int64? {
        let life = configuration.webTokenSeconds * 1000
        guard Self.isDue(expires, now, life) else { return nil }
        return try await storage.write { writer in
            // It may have been removed meanwhile, and must not come back.
            guard var row = try writer.credential(.webToken, hash: token.hash),
                let ends = row.expires, ends > now, ends < now + life
            else { return nil }
            row.expires = now + life
            try writer.putCredential(row)
            return row.expires
        }
    }
}
