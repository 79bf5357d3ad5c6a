import CloudKitServerCore
import CloudKitWire
import HTTPTypes
import Hummingbird
import ServiceLifecycle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The routes for operators that show the state of the server and change the schema.
extension HTTPAdapter {
    /// Responds to a request for one of these routes; returns nil for others.
    func overviewRoute(
        _ request: Request,
        _ body: Data,
        _ context: AdapterContext
    ) async throws -> AdapterResponse? {
        let path = Self.parts(of: request)
        switch (request.method.rawValue, path.count, path.first) {
        case ("GET", 1, "overview"): return try json(try await overview(request, context))
        case ("GET", 2, "journal"): return try exchange(path[1])
        case ("DELETE", 2, "faults"): return try removeFault(path[1])
        case ("POST", 3, "containers") where path[2] == "sessions":
            return try await openSession(path[1], body, request, context)
        case (let method, 4..., "containers") where path[2] == "schemas":
            return try await schema(path[1], path[3], method, Array(path[4...]), body)
        default: return nil
        }
    }

    private func overview(_ request: Request, _ context: AdapterContext) async throws -> Overview {
        Overview(
            version: administration.version,
            milliseconds: observer.clock.milliseconds,
            clockCanBeMoved: administration.clock != nil,
            actsAsUsers: policy.isLocal(request, from: peer(context)),
            connections: connections.count,
            waitingRequests: service.waitingRequests,
            faultRules: service.faultPlan?.rules.count ?? 0,
            containers: try await service.overview()
        )
    }

    // MARK: The journal

    /// Returns the journal's requests after a number, waiting for one if there is none yet.
    func journal(_ request: Request) async throws -> AdapterResponse {
        let parameters = QueryParameters(request.uri.query)
        let after = parameters["after"].flatMap { Int($0) } ?? 0
        if let seconds = parameters["wait"].flatMap({ Double($0) }) {
            let wait = min(max(seconds, 0), courierWait.inSeconds)
            let journal = administration.journal
            // A server that stops does not wait for a request.
            await cancelWhenGracefulShutdown {
                await withTaskGroup { group in
                    group.addTask { await journal.waitForEntry(after: after) }
                    // Only a cancellation ends the wait early; the entry has come then.
                    group.addTask { try? await Task.sleep(for: .seconds(wait)) }
                    await group.next()
                    group.cancelAll()
                }
            }
        }
        let entries = administration.journal.entries(after: after)
        let last = entries.last?.number ?? administration.journal.last
        return try json(JournalPage(entries: entries, last: last))
    }

    private func exchange(_ number: String) throws -> AdapterResponse {
        guard let number = Int(number), let (entry, bodies) = administration.journal.entry(number)
        else {
            throw RequestError(.notFound, reason: "The journal has no request '\(number)'")
        }
        return try json(Exchange(entry: entry, bodies: bodies?.shown))
    }

    // MARK: Sessions

    private func openSession(
        _ container: String,
        _ body: Data,
        _ request: Request,
        _ context: AdapterContext
    ) async throws -> AdapterResponse {
        let asked = try message(NewSession.self, body)
        // The key gives access to the server's functions; a user's own data is for this machine only.
        guard
            asked.userRecordName == nil
                || policy.isLocal(request, from: peer(context))
        else {
            throw RequestError(
                .accessDenied,
                reason: "Only requests of the server's own machine act as a user, and only where "
                    + "no other machine reaches the server"
            )
        }
        return try json(
            try await service.openSession(
                container: container,
                environment: asked.environment,
                userRecordName: asked.userRecordName
            )
        )
    }

    // MARK: Schemas

    private func schema(
        _ container: String,
        _ environment: String,
        _ method: String,
        _ path: [String],
        _ body: Data
    ) async throws -> AdapterResponse? {
        guard let kind = ServiceEnvironment(rawValue: environment) else { return nil }
        switch (method, path) {
        case ("GET", []):
            return try json(
                SchemaState(
                    text: try await service.exportSchema(container: container, environment: kind),
                    outline: try await service.schemaOutline(
                        container: container,
                        environment: kind
                    )
                )
            )
        case ("PUT", []):
            let asked = try message(NewSchema.self, body)
            do {
                let changes = try await service.importSchema(
                    asked.text,
                    container: container,
                    environment: kind,
                    isDryRun: asked.isDryRun ?? false
                )
                return try json(SchemaChanges(changes))
            } catch let error as SchemaSyntaxError {
                throw RequestError(.badRequest, reason: error.description)
            }
        case ("POST", ["deploy"]) where kind == .production:
            let isDryRun = try body.isEmpty ? false : message(Deployment.self, body).isDryRun
            return try json(
                SchemaChanges(
                    try await service.deploySchema(
                        container: container,
                        isDryRun: isDryRun ?? false
                    )
                )
            )
        default: return nil
        }
    }
}

// MARK: Messages

/// A page of the journal.
struct JournalPage: Encodable {
    var entries: [JournalEntry]
    /// The number of the journal's newest request.
    var last: Int
}

private struct Exchange: Encodable {
    var entry: JournalEntry
    var bodies: JournalBodies.Shown?
}

private struct Overview: Encodable {
    var version: String?
    var milliseconds: Int64
    var clockCanBeMoved: Bool
    /// `true` when the caller may act as any user.
    var actsAsUsers: Bool
    var connections: Int
    var waitingRequests: Int
    var faultRules: Int
    var containers: [ContainerOverview]
}

private struct NewSession: Decodable {
    var environment: ServiceEnvironment
    var userRecordName: String?
}

private struct SchemaState: Encodable {
    var text: String
    var outline: SchemaOutline
}

private struct NewSchema: Decodable {
    var text: String
    var isDryRun: Bool?
}

private struct Deployment: Decodable {
    var isDryRun: Bool?
}

private struct SchemaChanges: Encodable {
    struct Change: Encodable {
        var kind: String
        var recordType: String?
        var text: String
        var losesData: Bool
    }

    var changes: [Change]

    init(_ changes: [SchemaChange]) {
        self.changes = changes.map {
            Change(
                kind: $0.kind.rawValue,
                recordType: $0.recordType,
                text: $0.text,
                losesData: $0.losesData
            )
        }
    }
}

extension Duration {
    fileprivate var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
