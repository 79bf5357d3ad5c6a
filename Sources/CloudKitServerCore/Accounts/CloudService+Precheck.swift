package import CloudKitWire

/// What the head of a request says, taken apart once.
package struct Admission: Sendable {
    package let path: ServicePath
    let endpoint: Endpoint
    let credentials: Credentials
    /// Under what the caller is kept; nil for what must be checked each time.
    let cacheKey: CallerCache.Key?
}

/// What becomes of a request of which only the head is known.
package enum HeadOutcome: Sendable {
    /// It takes no body, and this is its answer.
    case answered(ServiceResponse)
    /// Its body is needed; `respond(to:admittedAs:)` takes both.
    case admitted(Admission)
}

extension CloudService {
    /// Refuses a request whose path or credentials are none, before its body is read.
    ///
    /// Nothing is counted and no token is used up: whose request it is gets looked up again when it is
    /// whole. The signature of a key covers the body; of it, only the key is checked here.
    ///
    /// - Parameter request: The request without its body.
    /// - Returns: The answer to a path that takes no body; what was read where the body is needed.
    /// - Throws: `RequestError`, as `respond(to:)` would answer it.
    package func precheck(_ request: ServiceRequest) async throws -> HeadOutcome {
        if DeviceRoute.isMissed(by: request) { return .answered(missedDeviceRoute(request)) }
        let admission = try await admission(of: request)
        let (path, credentials) = (admission.path, admission.credentials)
        if let signature = try ServerSignature(request) {
            try await checkKey(of: signature)
            return .admitted(admission)
        }
        let entry = try await entry(admission, request, now: clock.milliseconds)
        // Only the public database is anybody's.
        guard path.database == .public || entry.caller.user != nil else {
            throw RequestError(
                .authenticationRequired,
                reason: "request needs authorization",
                redirectURL: SignInAddress.url(for: request, apiToken: credentials.apiToken)
            )
        }
        return .admitted(admission)
    }

    /// Takes the head of a request apart.
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

    /// Finds whose request it is, among those of a moment ago first.
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
