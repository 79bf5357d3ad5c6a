import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Leads requests to their endpoints, and makes responses of what these return or throw.
struct RequestRouter: Sendable {
    let context: ServiceContext
    let admission: RequestAdmission
    /// Half of the engine's connections, and fewer than its threads.
    private let lane = SlowLane(width: 8, line: 1000)
    private let throttle: RequestThrottle?

    init(context: ServiceContext) {
        self.context = context
        admission = RequestAdmission(context: context)
        throttle = context.configuration.requestRate.map(RequestThrottle.init)
    }

    /// Checks the head of a request before its body is read.
    func precheck(_ request: ServiceRequest) async throws -> HeadOutcome {
        if DeviceRoute.isMissed(by: request) { return .responded(missedDeviceRoute(request)) }
        return .admitted(try await admission.precheck(request))
    }

    /// Responds to a request.
    func respond(to request: ServiceRequest) async -> ServiceResponse {
        await withTaskExecutorPreference(context.storage.threads) {
            await self.response(to: request)
        }
    }

    /// Responds to a request whose head was checked.
    func respond(
        to request: ServiceRequest,
        admittedAs admission: Admission
    ) async -> ServiceResponse {
        await withTaskExecutorPreference(context.storage.threads) {
            await self.response(to: request, admission)
        }
    }

    @concurrent
    private func response(to request: ServiceRequest) async -> ServiceResponse {
        if request.path == CourierRoute.path {
            return await CourierEndpoint(context: context).wait(request)
        }
        if DeviceRoute.isMissed(by: request) { return missedDeviceRoute(request) }
        do {
            return await response(to: request, try await admission.admission(of: request))
        } catch {
            return context.responses.failure(error)
        }
    }

    @concurrent
    private func response(
        to request: ServiceRequest,
        _ admission: Admission
    ) async -> ServiceResponse {
        let endpoint = admission.endpoint
        var call: Call
        do {
            call = try await self.admission.admit(request, admission)
        } catch {
            return context.responses.failure(error)
        }
        context.devices.see(call)
        let effects = FaultEffects(context: context)
        call.faults = await effects.decide(call, endpoint)
        if !call.faults.matches.isEmpty { call.trace = FaultTrace() }
        var outcome = FaultOutcome(isCarriedOut: false)
        var response: ServiceResponse
        do {
            try throttle?.admit(call)
            if call.faults.isDropped { throw CancellationError() }
            outcome.isCarriedOut = call.faults.error == nil
            try await effects.prepare(call.faults, call, endpoint)
            response = context.responses.ok(try await body(for: call, endpoint))
        } catch {
            response = context.responses.failure(error)
        }
        outcome.bytes = response.body.count
        // Where nothing is saved, a lost response hides what it says of each item.
        if endpoint == .recordsModify || call.faults.delivery.end != .lost {
            outcome.items = call.trace?.items ?? []
        }
        context.faults.settle(&call.faults, outcome)
        response.delivery = call.faults.delivery
        response.faultRules = call.faults.rules
        response.userRecordName = call.caller.user?.recordName
        response.cause = response.cause ?? call.work.damage
        if let token = call.caller.webToken, !call.faults.expiresWebToken,
            // The request succeeded, and the session's present token stays valid.
            let next = try? await self.admission.nextToken(after: token)
        {
            response.headers.append(("X-Apple-CloudKit-Web-Auth-Token", next))
            if Credentials.session(of: request, call.parameters) != nil {
                response.headers.append((Credentials.sessionHeader, next))
            }
        }
        return response
    }

    /// Returns the body of the response to a call; only a few slow calls run at a time.
    private func body(for call: Call, _ endpoint: Endpoint) async throws -> Data {
        let endpoints = EndpointTable(context: context)
        guard endpoint.mayTakeLong else { return try await endpoints.body(for: call, endpoint) }
        return try await lane.run(for: call.caller.user?.id.rawValue) {
            try await endpoints.body(for: call, endpoint)
        }
    }

    /// Returns the response observed from Apple's service, with the path that works.
    private func missedDeviceRoute(_ request: ServiceRequest) -> ServiceResponse {
        var response = context.responses.failure(DeviceRoute.error(for: request))
        response.status = 405
        response.headers.append(("Allow", "OPTIONS"))
        return response
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
