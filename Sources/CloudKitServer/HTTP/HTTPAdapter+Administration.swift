import CloudKitServerCore
import CloudKitWire
import HTTPTypes
import Hummingbird
import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The routes for operators and tests, in JSON, at paths that CloudKit does not have.
extension HTTPAdapter {
    /// Responds to a request below `Administration.prefix` or for the metrics.
    func administer(_ request: Request, _ context: AdapterContext) async -> AdapterResponse {
        let isAllowed = administration.isAllowed(request.headers[.authorization])
        let isLocal = policy.isLocal(request, from: peer(context))
        if request.uri.path == "/metrics", request.method == .get, isAllowed || isLocal {
            return text(await currentMetrics(), "text/plain; version=0.0.4; charset=utf-8")
        }
        guard administration.key != nil else {
            return noSuchRoute(request, "; start the server with a key for operators")
        }
        let client = policy.client(of: request, from: peer(context))
        if let refusal = refusal(ofKeyIn: request, client, isAllowed, isLocal) {
            return adapt(service.refusal(refusal))
        }
        do {
            let share = memory.share(of: "operator")
            let body = try await WholeBody(request).collect(upTo: bodyLimit, share)
            guard request.method != .get, let key = request.headers[.idempotencyKey] else {
                return await carryOut(request, body, context)
            }
            let identity = RepeatedRequests.Identity(key: key, of: request, body: body)
            return await administration.repeated.response(to: identity) {
                await carryOut(request, body, context)
            }
        } catch {
            return adapt(service.refusal(error))
        }
    }

    private func carryOut(
        _ request: Request,
        _ body: Data,
        _ context: AdapterContext
    ) async -> AdapterResponse {
        do {
            let parts = Self.parts(of: request)
            let method = request.method.rawValue
            guard let route = OperatorRoute.all.first(where: { $0.takes(method, parts) }) else {
                return noSuchRoute(request)
            }
            let query = try OperatorQuery(request.uri.query, of: route)
            try await checkContainer(parts, request, query)
            // Even a change that failed may have been made in part.
            defer { if route.changesRecords { administration.journal.noteOperation() } }
            return try await route.response(
                self,
                OperatorCall(
                    request: request,
                    context: context,
                    parts: parts,
                    query: query,
                    body: body
                )
            )
        } catch {
            return adapt(service.refusal(error))
        }
    }

    /// Returns the error for a request without the key, or after too many wrong ones.
    ///
    /// The right key is good at any time on this machine, where an old page may still ask with the
    /// key of an earlier start.
    private func refusal(
        ofKeyIn request: Request,
        _ client: String,
        _ isAllowed: Bool,
        _ isLocal: Bool
    ) -> RequestError? {
        if isAllowed, isLocal { return nil }
        let now = observer.clock.milliseconds
        var seconds = administration.tries.wait(address: client, now)
        if isAllowed, seconds == nil { return nil }
        let key = request.headers[.authorization]?.dropFirst("Bearer ".count) ?? ""
        if seconds == nil, !key.isEmpty {
            seconds = administration.tries.take(address: client, now)
            observer.noteWrongKey(isLast: administration.tries.wait(address: client, now) != nil)
        }
        guard let seconds else {
            return RequestError(
                .accessDenied,
                reason: key.isEmpty
                    ? "Send the key that the server was given for operators, or printed at its "
                        + "start: Authorization: Bearer KEY"
                    : "The key is not this server's. One without --admin-key-file has a new key "
                        + "after each start: take it from what it printed, or from operator.env"
            )
        }
        return RequestError(
            .throttled,
            reason: "Too many requests with a wrong key; wait \(seconds) seconds",
            retryAfter: Double(seconds)
        )
    }

    /// Refuses a route of a container that does not exist: a mistyped name must not create one.
    private func checkContainer(
        _ path: [String],
        _ request: Request,
        _ query: OperatorQuery
    ) async throws {
        let mayBeNew = try query.value("new", "true or false") { Bool($0) } ?? false
        // A request that only reads creates none in any case.
        guard path.count >= 3, path[0] == "containers",
            request.method == .get || !service.opensContainers, !mayBeNew
        else { return }
        let found = try await service.containers()
        guard !found.contains(path[1]) else { return }
        throw RequestError(
            .notFound,
            reason: "No container \(path[1]); the server has "
                + (found.isEmpty ? "none" : found.joined(separator: ", "))
                + ", and the parameter new=true adds one with its first user, token or key"
        )
    }

    /// Returns the metrics, including those that are read only on request.
    private func currentMetrics() async -> String {
        let metrics = administration.metrics
        metrics.setGauge("cloudkit_connections", Double(connections.count))
        metrics.setGauge("cloudkit_waiting_requests", Double(service.waitingRequests))
        metrics.setGauge("cloudkit_request_memory_bytes", Double(memory.taken))
        metrics.setGauge("cloudkit_response_memory_bytes", Double(connections.responseBytes))
        ProcessMetrics.set(metrics)
        return metrics.text + PrometheusMetrics.text(of: await service.storageMetrics())
    }

    func noSuchRoute(_ request: Request, _ remedy: String = "") -> AdapterResponse {
        adapt(
            service.refusal(
                RequestError(
                    .notFound,
                    reason: "No such route: \(request.method.rawValue) \(request.uri.path)\(remedy)"
                )
            )
        )
    }

    /// Returns the parts of a path below `Administration.prefix`; empty if one cannot be decoded.
    static func parts(of request: Request) -> [String] {
        let parts = request.uri.path.dropFirst(Administration.prefix.count)
            .split(separator: "/").map { PercentEncoding.decode($0) }
        return parts.contains(nil) ? [] : parts.compactMap(\.self)
    }

    /// The routes of the server as a whole.
    static let serverRoutes = [
        OperatorRoute("GET", "faults") { adapter, _ in try adapter.faultState() },
        OperatorRoute("PUT", "faults", reads: NewFaults.self) { adapter, _, new in
            adapter.service.setFaults(new.plan)
            return try adapter.faultState()
        },
        OperatorRoute("POST", "faults", reads: NewFaults.self) { try $0.addFaults($2) },
        OperatorRoute("DELETE", "faults") { adapter, _ in
            adapter.service.setFaults(nil)
            return try adapter.faultState()
        },
        OperatorRoute("DELETE", "faults/{number}") { try $0.removeFault($1.parts[1]) },
        OperatorRoute("GET", "journal", parameters: ["after", "wait", "operations"]) {
            try await $0.journal($1.query)
        },
        OperatorRoute("GET", "journal/{number}") { try $0.exchange($1.parts[1]) },
        OperatorRoute("DELETE", "journal") { adapter, _ in
            let journal = adapter.administration.journal
            journal.clear()
            return try adapter.json(
                JournalPage(entries: [], last: journal.last, operations: journal.operations)
            )
        },
        OperatorRoute("GET", "clock") { adapter, _ in try adapter.clockState() },
        OperatorRoute("POST", "clock", reads: ClockStep.self, changesRecords: true) {
            try await $0.moveClock($2, $1.request)
        },
    ]

    private func addFaults(_ new: NewFaults) throws -> AdapterResponse {
        if let seed = new.seed, let current = service.faultPlan?.seed, seed != current {
            throw RequestError(
                .badRequest,
                reason: "seed is \(seed), but the rules in force have the seed \(current), and go "
                    + "on with it; leave seed out, or replace all rules with PUT"
            )
        }
        service.addFaults(new.plan)
        return try faultState()
    }

    private func moveClock(_ step: ClockStep, _ request: Request) async throws -> AdapterResponse {
        guard let clock = administration.clock else { return noSuchRoute(request) }
        guard (0..<31_557_600_000).contains(step.advanceSeconds) else {
            throw RequestError(
                .badRequest,
                reason: "advanceSeconds is \(step.advanceSeconds); a clock moves forward, by "
                    + "less than a thousand years"
            )
        }
        let milliseconds = Int64(step.advanceSeconds * 1000)
        guard clock.milliseconds + milliseconds < Self.endOfTime else {
            throw RequestError(
                .badRequest,
                reason: "advanceSeconds is \(step.advanceSeconds), after which it is the year "
                    + "10000; start the server again to have the time of the machine"
            )
        }
        clock.advance(by: .milliseconds(milliseconds))
        // Cleaning removes everything that would have been removed in that time.
        try await service.clean()
        return try clockState()
    }

    /// The first moment whose year has more than four digits, which dates as text do not have.
    private static let endOfTime: Int64 = 253_402_300_800_000

    /// The routes that change a container, and those of its snapshots.
    static let containerRoutes = [
        OperatorRoute(
            "POST",
            "containers/{id}/reset",
            reads: Reset.self,
            orElse: Reset(),
            changesRecords: true
        ) { adapter, call, options in
            try await adapter.service.resetContainer(
                call.container,
                keepsSchema: options.keepsSchema ?? false
            )
            return try adapter.json(Done())
        },
        OperatorRoute(
            "POST",
            "containers/{id}/expire-change-tokens",
            changesRecords: true
        ) { adapter, call in
            try await adapter.service.expireChangeTokens(container: call.container)
            return try adapter.json(Done())
        },
        OperatorRoute(
            "POST",
            "containers/{id}/delete-zones",
            reads: ZoneDeletion.self,
            changesRecords: true
        ) { adapter, call, deletion in
            try await adapter.deleteZones(deletion, call.container)
            return try adapter.json(Done())
        },
        OperatorRoute("GET", "containers/{id}/snapshots") { adapter, call in
            let snapshots = try await adapter.service.snapshots(of: call.container)
            return try adapter.json(Snapshots(snapshots: snapshots))
        },
        OperatorRoute("PUT", "containers/{id}/snapshots/{name}") { adapter, call in
            try adapter.json(
                try await adapter.service.takeSnapshot(call.parts[3], of: call.container)
            )
        },
        OperatorRoute("DELETE", "containers/{id}/snapshots/{name}") { adapter, call in
            try await adapter.service.removeSnapshot(call.parts[3], of: call.container)
            return try adapter.json(Done())
        },
        OperatorRoute(
            "POST",
            "containers/{id}/snapshots/{name}/restore",
            changesRecords: true
        ) { adapter, call in
            try await adapter.service.restoreSnapshot(call.parts[3], of: call.container)
            return try adapter.json(Done())
        },
    ]

    private func deleteZones(_ request: ZoneDeletion, _ container: String) async throws {
        guard request.reason != .unknown else {
            throw RequestError(.badRequest, reason: "reason is not PURGED or ENCRYPTED_DATA_RESET")
        }
        try await service.deleteZones(
            request.zones,
            of: try await user(request.userRecordName, of: container),
            environment: request.environment ?? .development,
            because: request.reason
        )
    }

    /// Removes a rule by its number, counted from 1.
    private func removeFault(_ number: String) throws -> AdapterResponse {
        guard let number = Int(number), number > 0, service.removeFault(at: number - 1) else {
            throw RequestError(
                .notFound,
                reason: "There is no rule '\(number)'; GET faults lists the rules, counted from 1"
            )
        }
        return try faultState()
    }

    private func faultState() throws -> AdapterResponse {
        try json(Faults(plan: service.faultPlan, counts: service.faultCounts))
    }

    private func clockState() throws -> AdapterResponse {
        try json(
            ClockState(
                milliseconds: observer.clock.milliseconds,
                canBeMoved: administration.clock != nil
            )
        )
    }

    func json(_ value: some Encodable) throws -> AdapterResponse {
        text(
            String(decoding: try WireJSON.encode(value), as: UTF8.self),
            "application/json; charset=UTF-8"
        )
    }

    private func text(_ text: String, _ type: String) -> AdapterResponse {
        AdapterResponse(
            response: Response(
                status: .ok,
                headers: [.contentType: type, .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: text))
            )
        )
    }
}

// MARK: Messages

private struct Done: Encodable {}

private struct Reset: OperatorMessage {
    var keepsSchema: Bool?

    enum CodingKeys: CodingKey, CaseIterable { case keepsSchema }
}

private struct Snapshots: Encodable {
    var snapshots: [StoredSnapshot]
}

private struct Faults: Encodable {
    var plan: FaultPlan?
    var counts: [FaultCount]
}

/// Rules for faults, with the seed if the body has one.
private struct NewFaults: OperatorMessage {
    var plan: FaultPlan
    var seed: UInt64?

    enum CodingKeys: CodingKey, CaseIterable { case seed, rules }

    init(body: Data) throws {
        plan = try FaultPlan(json: body)
        seed = try WireJSON.decode(Self.self, from: body).seed
    }

    init(from decoder: any Decoder) throws {
        plan = try FaultPlan(from: decoder)
        seed = try decoder.container(keyedBy: CodingKeys.self)
            .decodeIfPresent(UInt64.self, forKey: .seed)
    }
}

private struct ClockStep: OperatorMessage {
    var advanceSeconds: Double

    enum CodingKeys: CodingKey, CaseIterable { case advanceSeconds }
}

private struct ClockState: Encodable {
    var milliseconds: Int64
    var canBeMoved: Bool
}

private struct ZoneDeletion: OperatorMessage {
    var userRecordName: String
    var zones: [String]?
    var reason: ZoneDeletionReason
    var environment: ServiceEnvironment?

    enum CodingKeys: CodingKey, CaseIterable { case userRecordName, zones, reason, environment }
}
