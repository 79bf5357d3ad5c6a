package import CloudKitWire

/// The parsed head of a request.
package struct Admission: Sendable {
    package let path: ServicePath
    let endpoint: Endpoint
    let credentials: Credentials
    /// The key under which the caller is cached; nil for credentials that must be checked each time.
    let cacheKey: CallerCache.Key?
}

/// The result of checking a request's head.
package enum HeadOutcome: Sendable {
    /// The request takes no body, and this is its response.
    case answered(ServiceResponse)
    /// The request's body is needed; pass both to `respond(to:admittedAs:)`.
    case admitted(Admission)
}

extension CloudService {
    /// Refuses a request with an invalid path or invalid credentials before its body is read.
    ///
    /// Nothing is counted and no token is used up because the caller is looked up again when the
    /// request is complete. A key's signature covers the body; here only the key itself is checked.
    ///
    /// - Parameter request: The request without its body.
    /// - Returns: The response to a path that takes no body, or the parsed head if the body is needed.
    /// - Throws: `RequestError`, the same as `respond(to:)`.
    package func precheck(_ request: ServiceRequest) async throws -> HeadOutcome {
        if DeviceRoute.isMissed(by: request) { return .answered(missedDeviceRoute(request)) }
        let admission = try await admission(of: request)
        let (path, credentials) = (admission.path, admission.credentials)
        if let signature = try ServerSignature(request) {
            try await checkKey(of: signature)
            return .admitted(admission)
        }
        let entry = try await entry(admission, request, now: clock.milliseconds)
        // Only the public database is open to callers without a user.
        guard path.database == .public || entry.caller.user != nil else {
            throw RequestError(
                .authenticationRequired,
                reason: "request needs authorization",
                redirectURL: SignInAddress.url(for: request, apiToken: credentials.apiToken)
            )
        }
        return .admitted(admission)
    }

    /// Parses the head of a request.
    func admission(of request: ServiceRequest) async throws -> Admission {
        let (path, endpoint) = try route(request)
        let credentials = Credentials(
            request,
            try await seal(),
            acceptsUserNames: configuration.acceptsUserNames
        )
        return Admission(
            path: path,
            endpoint: endpoint,
            credentials: credentials,
            cacheKey: credentials.cacheKey(path)
        )
    }

    /// Returns the caller of a request, from the cache if possible.
    func entry(
        _ admission: Admission,
        _ request: ServiceRequest,
        now: Int64
    ) async throws -> CallerCache.Entry {
        let key = admission.cacheKey
        if let key, let entry = callers.entry(key, now: now) { return entry }
        let found = try await find(admission.credentials, request, admission.path, now)
        if let key { callers.insert(found, for: key) }
        return found
    }

    private func checkKey(of signature: ServerSignature) async throws {
        let row = try await storage.read { reader in
            try reader.credential(.serverKey, hash: SecretHash.of(signature.keyID))
        }
        guard row?.companion != nil else {
            throw RequestError(
                .authenticationFailed,
                reason: "Authentication failed: the key is not one of this container and "
                    + "environment"
            )
        }
    }

    /// Returns whether less than seven eighths of a session remain, so that a session in frequent
    /// use is written every other day, not each time.
    private static func isDue(_ expires: Int64, _ now: Int64, _ life: Int64) -> Bool {
        expires - now < life - life / 8
    }

    /// Extends the session of a token that is used; returns nil if that is not necessary or it has ended.
    ///
    /// - Returns: The new expiration time, in milliseconds since 1970-01-01 UTC.
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
