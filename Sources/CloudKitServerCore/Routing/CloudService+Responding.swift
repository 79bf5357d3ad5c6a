import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CloudService {
    /// Responds to a request; asset bytes use `receiveAsset` and `openAsset` instead.
    ///
    /// This method never throws: a failure is a response with CloudKit's error code, status and reason.
    public func respond(to request: ServiceRequest) async -> ServiceResponse {
        await withTaskExecutorPreference(storage.threads) { await self.answer(request) }
    }

    /// Responds to a request whose head `precheck` admitted.
    package func respond(
        to request: ServiceRequest,
        admittedAs admission: Admission
    ) async -> ServiceResponse {
        await withTaskExecutorPreference(storage.threads) { await self.answer(request, admission) }
    }

    @concurrent
    private func answer(_ request: ServiceRequest) async -> ServiceResponse {
        if request.path == CourierRoute.path { return await courier(request) }
        if DeviceRoute.isMissed(by: request) { return missedDeviceRoute(request) }
        do {
            return await answer(request, try await admission(of: request))
        } catch {
            return failure(error)
        }
    }

    @concurrent
    private func answer(
        _ request: ServiceRequest,
        _ admission: Admission
    ) async -> ServiceResponse {
        let endpoint = admission.endpoint
        var call: Call
        do {
            call = try await admit(request, admission)
        } catch {
            return failure(error)
        }
        devices.see(call)
        call.faults = decideFaults(call, endpoint)
        var response: ServiceResponse
        do {
            try throttle?.admit(call)
            if call.faults.isDropped { throw CancellationError() }
            try await prepare(call.faults, call, endpoint)
            response = ok(try await answerInLane(call, endpoint))
        } catch {
            response = failure(error)
        }
        response.delivery = call.faults.delivery
        response.faultRules = call.faults.rules
        response.userRecordName = call.caller.user?.recordName
        response.cause = response.cause ?? call.work.damage
        if let token = call.caller.webToken, !call.faults.expiresWebToken,
            // The request succeeded, and the session's present token stays valid.
            let next = try? await nextToken(after: token)
        {
            response.headers.append(("X-Apple-CloudKit-Web-Auth-Token", next))
            if Credentials.session(of: request, call.parameters) != nil {
                response.headers.append((Credentials.sessionHeader, next))
            }
        }
        return response
    }

    /// Responds to a request; only a few slow requests run at a time.
    private func answerInLane(_ call: Call, _ endpoint: Endpoint) async throws -> Data {
        guard endpoint.mayTakeLong else { return try await answer(call, endpoint) }
        return try await lane.run(for: call.caller.user?.id.rawValue) {
            try await self.answer(call, endpoint)
        }
    }

    /// Returns the next token, for the response to a client that sent one.
    private func nextToken(after token: WebToken) async throws -> String? {
        let next = WebToken(secret: token.secret, nonce: randomness.identifier())
        if configuration.rotatesWebTokens, !rotation.rotate(from: token, to: next) { return nil }
        return next.text(try await seal())
    }
}

extension Endpoint {
    /// `true` when the time for a request depends on the amount of data.
    fileprivate var mayTakeLong: Bool {
        switch self {
        case .recordsQuery, .recordsQueryBatch, .changesZone, .changesDatabase, .recordsChanges,
            .zonesChanges, .recordsZipPrepare, .recordsCopyStart, .recordsCopyStatus,
            .usersDiscover,
            .usersLookupEmail, .usersLookupID, .zonesList:
            true
        default: false
        }
    }
}
