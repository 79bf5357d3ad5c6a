import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// Determines the caller of a request whose head was parsed.
    func admit(_ request: ServiceRequest, _ admission: Admission) async throws -> Call {
        guard request.body.count <= configuration.requestBodyBytes else {
            throw RequestError(
                .badRequest,
                reason: "The body has \(request.body.count) bytes; at most "
                    + "\(configuration.requestBodyBytes) are allowed",
                nativeErrorCode: .limitExceeded
            )
        }
        let now = clock.milliseconds
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
            work: RequestWork(configuration.budget, clock, memory: request.responseMemory),
            untagged: configuration.untaggedValues
        )
    }

    func route(_ request: ServiceRequest) throws -> (ServicePath, Endpoint) {
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

    /// Ends the session of a token that another party holds too.
    private func end(_ token: WebToken) async throws {
        try await storage.write { try $0.removeCredential(.webToken, hash: token.hash) }
        callers.removeAll()
    }

    /// Looks up a caller, and extends its session if that is due.
    func find(
        _ credentials: Credentials,
        _ request: ServiceRequest,
        _ path: ServicePath,
        _ now: Int64
    ) async throws -> CallerCache.Entry {
        if configuration.opensContainers || credentials.userName != nil {
            try await makeMissing(credentials, path)
        }
        let sharesCredentials = configuration.opensContainers
        let (found, expires) = try await storage.read { reader in
            let environment = try reader.environment(container: path.container, path.environment)
            let authentication = Authentication(
                request: request,
                credentials: credentials,
                environment: environment,
                container: path.container,
                database: path.database,
                now: now,
                sharesCredentials: sharesCredentials
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

    func answer(_ call: Call, _ endpoint: Endpoint) async throws -> Data {
        switch endpoint {
        case .recordsModify: try await modifyRecords(call)
        case .recordsLookup: try await lookUpRecords(call)
        case .recordsQuery: try await queryRecords(call)
        case .zonesList: try await listZones(call)
        case .zonesLookup: try await lookUpZones(call)
        case .zonesModify: try await modifyZones(call)
        case .changesDatabase: try await databaseChanges(call)
        case .changesZone: try await zoneChanges(call)
        case .assetsUpload: try await prepareUploads(call)
        case .usersCaller: try await currentUser(call)
        case .usersCurrent: try await currentUserDictionary(call)
        case .usersDiscover: try await discoverUsers(call)
        case .usersLookupEmail, .usersLookupID: try await lookUpUsers(call)
        case .usersLookupContacts: try await lookUpContacts(call)
        case .subscriptionsList: try await listSubscriptions(call)
        case .subscriptionsLookup: try await lookUpSubscriptions(call)
        case .subscriptionsModify: try await modifySubscriptions(call)
        case .recordsResolve: try await resolveShares(call)
        case .recordsAccept: try await acceptShares(call)
        case .assetsRereference: try await rereferenceAssets(call)
        case .recordsChanges: try await recordChanges(call)
        case .zonesChanges: try await olderZoneChanges(call)
        case .recordsZipPrepare: try await prepareArchive(call)
        case .recordsCopyStart: try await startCopy(call)
        case .recordsCopyStatus: try await copyStatus(call)
        case .recordsQueryBatch: try await queryBatch(call)
        case .tokensCreate: try await createToken(call)
        case .tokensRegister: try await registerToken(call)
        }
    }
}
