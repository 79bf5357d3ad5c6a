import CloudKitWire

/// Determines the endpoint and the caller of a request.
struct RequestAdmission: Sendable {
    let context: ServiceContext
    let rotation = TokenRotation()

    /// Checks the path and the credentials of a request before its body is read.
    ///
    /// Nothing is counted and no token is used up because the caller is looked up again when the
    /// request is complete. A key's signature covers the body; here only the key itself is checked.
    ///
    /// - Throws: `RequestError`, the same as for the complete request.
    func precheck(_ request: ServiceRequest) async throws -> Admission {
        let admission = try await admission(of: request)
        let (path, credentials) = (admission.path, admission.credentials)
        if let signature = try ServerSignature(request) {
            try await checkKey(of: signature)
            return admission
        }
        let entry = try await entry(admission, request, now: context.clock.milliseconds)
        // Only the public database is open to callers without a user.
        guard path.database == .public || entry.caller.user != nil else {
            throw RequestError(
                .authenticationRequired,
                reason: "request needs authorization",
                redirectURL: SignInAddress.url(for: request, apiToken: credentials.apiToken)
            )
        }
        return admission
    }

    /// Parses the head of a request.
    func admission(of request: ServiceRequest) async throws -> Admission {
        let (path, endpoint) = try Self.route(request)
        let credentials = Credentials(
            request,
            try await context.seal(),
            acceptsUserNames: context.configuration.acceptsUserNames
        )
        return Admission(
            path: path,
            endpoint: endpoint,
            credentials: credentials,
            cacheKey: credentials.cacheKey(path)
        )
    }

    /// Determines the caller of a request whose head was parsed.
    func admit(_ request: ServiceRequest, _ admission: Admission) async throws -> Call {
        let configuration = context.configuration
        guard request.body.count <= configuration.requestBodyBytes else {
            throw RequestError(
                .badRequest,
                reason: "The body has \(request.body.count) bytes; at most "
                    + "\(configuration.requestBodyBytes) are allowed",
                nativeErrorCode: .limitExceeded
            )
        }
        let now = context.clock.milliseconds
        let credentials = admission.credentials
        let entry = try await entry(admission, request, now: now)
        var caller = entry.caller
        if admission.cacheKey != nil { caller.webToken = credentials.webToken }
        if let token = credentials.webToken, configuration.rotatesWebTokens,
            rotation.use(token) == .replayed
        {
            try await end(token)
            throw RequestError(
                .authenticationFailed,
                reason:
                    "Authentication failed: ckWebAuthToken was used before, so its session "
                    + "has ended; every response carries the next token"
            )
        }
        return Call(
            request: request,
            path: admission.path,
            parameters: credentials.parameters,
            caller: caller,
            environment: entry.environment,
            now: now,
            work: RequestWork(
                configuration.budget,
                context.clock,
                memory: request.responseMemory
            ),
            untagged: configuration.untaggedValues
        )
    }

    private static func route(_ request: ServiceRequest) throws -> (ServicePath, Endpoint) {
        guard ["GET", "POST"].contains(request.method) else {
            throw RequestError(.badRequest, reason: "Method \(request.method) is not supported")
        }
        guard let path = ServicePath(request.path),
            let endpoint = Endpoint(rawValue: path.endpoint),
            let container = PercentEncoding.decode(path.container[...])
        else {
            throw RequestError(
                .notFound,
                reason: "could not find handler for endpoint: \(request.path)"
            )
        }
        var decoded = path
        decoded.container = container
        return (decoded, endpoint)
    }

    /// Returns the caller of a request, from the cache if possible.
    private func entry(
        _ admission: Admission,
        _ request: ServiceRequest,
        now: Int64
    ) async throws -> CallerCache.Entry {
        let key = admission.cacheKey
        if let key, let entry = context.callers.entry(key, now: now) { return entry }
        let removals = context.callers.removals
        let found = try await find(admission.credentials, request, admission.path, now)
        if let key { context.callers.insert(found, for: key, since: removals) }
        return found
    }

    /// Looks up a caller, and extends its session if that is due.
    private func find(
        _ credentials: Credentials,
        _ request: ServiceRequest,
        _ path: ServicePath,
        _ now: Int64
    ) async throws -> CallerCache.Entry {
        let opensContainers = context.configuration.opensContainers
        if opensContainers || credentials.userName != nil {
            try await FirstUse(context: context).makeMissing(credentials, path)
        }
        let (found, expires) = try await context.storage.read { reader in
            let environment = try reader.environment(container: path.container, path.environment)
            let authentication = Authentication(
                request: request,
                credentials: credentials,
                environment: environment,
                container: path.container,
                database: path.database,
                now: now,
                sharesCredentials: opensContainers
            )
            let (caller, expires) = try authentication.caller(reader)
            guard let environment else {
                throw RequestError(.authenticationFailed, reason: "Authentication failed")
            }
            let entry = CallerCache.Entry(
                caller: caller,
                environment: environment,
                ends: min(now + CallerCache.life, expires ?? .max)
            )
            return (entry, expires)
        }
        var entry = found
        // A session that could not be extended stays valid; the next request tries again.
        if let expires, let token = found.caller.webToken,
            let later = try? await prolong(token, expires: expires, now: now)
        {
            entry.ends = min(now + CallerCache.life, later)
        }
        return entry
    }

    private func checkKey(of signature: ServerSignature) async throws {
        let row = try await context.storage.read { reader in
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
}
