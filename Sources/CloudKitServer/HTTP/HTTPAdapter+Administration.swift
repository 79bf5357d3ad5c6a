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
            return text(currentMetrics(), "text/plain; version=0.0.4; charset=utf-8")
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
            try await checkContainer(of: request)
            if let result = try await route(request, body) { return result }
            if let result = try await overviewRoute(request, body, context) { return result }
            if let result = try await inspectionRoute(request, body, context) { return result }
            return noSuchRoute(request)
        } catch let error as FaultPlanError {
            return adapt(
                service.refusal(RequestError(.badRequest, reason: error.description))
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
    private func checkContainer(of request: Request) async throws {
        let path = Self.parts(of: request)
        // A request that only reads creates none in any case.
        guard path.count >= 3, path[0] == "containers",
            request.method == .get || !service.opensContainers,
            QueryParameters(request.uri.query)["new"] != "true"
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
    private func currentMetrics() -> String {
        let metrics = administration.metrics
        metrics.setGauge("cloudkit_connections", Double(connections.count))
        metrics.setGauge("cloudkit_waiting_requests", Double(service.waitingRequests))
        metrics.setGauge("cloudkit_request_memory_bytes", Double(memory.taken))
        metrics.setGauge("cloudkit_response_memory_bytes", Double(connections.responseBytes))
        ProcessMetrics.set(metrics)
        return metrics.text
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

    private func route(_ request: Request, _ body: Data) async throws -> AdapterResponse? {
        let path = Self.parts(of: request)
        let method = request.method.rawValue
        if path.first == "containers", path.count >= 3 {
            return try await container(path[1], method, Array(path[2...]), body)
        }
        switch (method, path) {
        case ("GET", ["faults"]): return try faultState()
        case ("PUT", ["faults"]):
            service.setFaults(try FaultPlan(json: body))
            return try faultState()
        case ("POST", ["faults"]):
            service.addFaults(try FaultPlan(json: body))
            return try faultState()
        case ("DELETE", ["faults"]):
            service.setFaults(nil)
            return try faultState()
        case ("GET", ["journal"]): return try await journal(request)
        case ("DELETE", ["journal"]):
            administration.journal.clear()
            return try json(JournalPage(entries: [], last: administration.journal.last))
        case ("GET", ["clock"]): return try clockState()
        case ("POST", ["clock"]):
            guard let clock = administration.clock else { return nil }
            let step = try message(ClockStep.self, body)
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
        default: return nil
        }
    }

    /// The first moment whose year has more than four digits, which dates as text do not have.
    private static let endOfTime: Int64 = 253_402_300_800_000

    private func container(
        _ container: String,
        _ method: String,
        _ path: [String],
        _ body: Data
    ) async throws -> AdapterResponse? {
        if path.first == "snapshots" {
            return try await snapshot(container, method, Array(path[1...]))
        }
        switch (method, path) {
        case ("POST", ["reset"]):
            let options = try body.isEmpty ? Reset() : message(Reset.self, body)
            try await service.resetContainer(container, keepsSchema: options.keepsSchema ?? false)
            return try json(Done())
        case ("POST", ["expire-change-tokens"]):
            try await service.expireChangeTokens(container: container)
            return try json(Done())
        case ("POST", ["delete-zones"]):
            try await deleteZones(message(ZoneDeletion.self, body), container)
            return try json(Done())
        case ("GET", ["users"]):
            let users = try await service.users(container: container)
            return try json(Users(users: users.map { User($0) }))
        case ("POST", ["users"]):
            return try json(try await addUser(message(NewUser.self, body), container))
        case ("POST", ["api-tokens"]):
            let kind = try message(NewAPIToken.self, body).environment
            let token = try await service.addAPIToken(container: container, environment: kind)
            return try json(APIToken(apiToken: token))
        default: return nil
        }
    }

    private func snapshot(
        _ container: String,
        _ method: String,
        _ path: [String]
    ) async throws -> AdapterResponse? {
        switch (method, path.count) {
        case ("GET", 0):
            return try json(Snapshots(snapshots: try await service.snapshots(of: container)))
        case ("PUT", 1):
            return try json(try await service.takeSnapshot(path[0], of: container))
        case ("DELETE", 1):
            try await service.removeSnapshot(path[0], of: container)
            return try json(Done())
        case ("POST", 2) where path[1] == "restore":
            try await service.restoreSnapshot(path[0], of: container)
            return try json(Done())
        default: return nil
        }
    }

    private func addUser(_ request: NewUser, _ container: String) async throws -> User {
        guard request.name.contains(where: { !$0.isWhitespace }) else {
            throw RequestError(.badRequest, reason: "The user's name is blank; give one")
        }
        guard let apiToken = request.apiToken else {
            return User(
                try await service.addUser(
                    container: container,
                    name: request.name,
                    emailAddress: request.emailAddress
                )
            )
        }
        let (user, token) = try await service.addUser(
            container: container,
            name: request.name,
            emailAddress: request.emailAddress,
            apiToken: apiToken,
            environment: request.environment ?? .development
        )
        return User(user, webAuthToken: token)
    }

    private func deleteZones(_ request: ZoneDeletion, _ container: String) async throws {
        guard request.reason != .unknown else {
            throw RequestError(.badRequest, reason: "reason is PURGED or ENCRYPTED_DATA_RESET")
        }
        try await service.deleteZones(
            request.zones,
            of: try await user(request.userRecordName, of: container),
            environment: request.environment ?? .development,
            because: request.reason
        )
    }

    /// Removes a rule by its number, counted from 1.
    func removeFault(_ number: String) throws -> AdapterResponse {
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

    func message<Message: Decodable>(
        _ type: Message.Type,
        _ body: Data
    ) throws -> Message {
        do {
            return try WireJSON.decode(type, from: body)
        } catch let error as DecodingError {
            throw RequestError(
                .badRequest,
                reason: "Unexpected input at \(WireJSON.place(of: error))"
            )
        }
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

private struct Reset: Decodable {
    var keepsSchema: Bool?
}

private struct Snapshots: Encodable {
    var snapshots: [StoredSnapshot]
}

private struct Faults: Encodable {
    var plan: FaultPlan?
    var counts: [FaultCount]
}

private struct ClockStep: Decodable {
    var advanceSeconds: Double
}

private struct ClockState: Encodable {
    var milliseconds: Int64
    var canBeMoved: Bool
}

private struct NewUser: Decodable {
    var name: String
    var emailAddress: String?
    var apiToken: String?
    var environment: ServiceEnvironment?
}

private struct ZoneDeletion: Decodable {
    var userRecordName: String
    var zones: [String]?
    var reason: ZoneDeletionReason
    var environment: ServiceEnvironment?
}

private struct NewAPIToken: Decodable {
    var environment: ServiceEnvironment
}

private struct APIToken: Encodable {
    var apiToken: String
}

private struct Users: Encodable {
    var users: [User]
}

private struct User: Encodable {
    var userRecordName: String
    var givenName: String?
    var familyName: String?
    var emailAddress: String?
    var webAuthToken: String?

    init(_ user: ServiceUser, webAuthToken: String? = nil) {
        userRecordName = user.userRecordName
        givenName = user.givenName
        familyName = user.familyName
        emailAddress = user.emailAddress
        self.webAuthToken = webAuthToken
    }
}
