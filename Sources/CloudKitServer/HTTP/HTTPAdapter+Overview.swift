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
    /// The routes of the overview and of schemas.
    static let overviewRoutes = [
        OperatorRoute("GET", "overview") { try $0.json(try await $0.overview($1)) },
        OperatorRoute("GET", "containers/{id}/schemas/{environment}") { adapter, call in
            guard let kind = ServiceEnvironment(rawValue: call.parts[3]) else {
                return adapter.noSuchRoute(call.request)
            }
            return try await adapter.schema(call.container, kind)
        },
        OperatorRoute(
            "PUT",
            "containers/{id}/schemas/{environment}",
            reads: NewSchema.self,
            changesRecords: true
        ) { adapter, call, new in
            guard let kind = ServiceEnvironment(rawValue: call.parts[3]) else {
                return adapter.noSuchRoute(call.request)
            }
            return try await adapter.importSchema(new, call.container, kind)
        },
        OperatorRoute(
            "POST",
            "containers/{id}/schemas/production/deploy",
            reads: Deployment.self,
            orElse: Deployment()
        ) { adapter, call, options in
            try adapter.json(
                SchemaChanges(
                    try await adapter.service.deploySchema(
                        container: call.container,
                        isDryRun: options.isDryRun ?? false
                    )
                )
            )
        },
    ]

    private func overview(_ call: OperatorCall) async throws -> Overview {
        Overview(
            version: administration.version,
            milliseconds: observer.clock.milliseconds,
            clockCanBeMoved: administration.clock != nil,
            actsAsUsers: policy.isLocal(call.request, from: peer(call.context)),
            connections: connections.count,
            waitingRequests: service.waitingRequests,
            faultRules: service.faultPlan?.rules.count ?? 0,
            containers: try await service.overview()
        )
    }

    // MARK: The journal

    /// Returns the journal's requests after a number, waiting for one if there is none yet.
    func journal(_ query: OperatorQuery) async throws -> AdapterResponse {
        let after = try query.value("after", "a whole number") { Int($0) } ?? 0
        let known = try query.value("operations", "a whole number") { Int($0) }
        if let seconds = try query.value("wait", "a number of seconds", Self.finite) {
            let wait = min(max(seconds, 0), courierWait.inSeconds)
            let journal = administration.journal
            // A server that stops does not wait for a request.
            await cancelWhenGracefulShutdown {
                await withTaskGroup { group in
                    group.addTask {
                        await journal.waitForNews(after: after, operations: known)
                    }
                    // Only a cancellation ends the wait early; the entry has come then.
                    group.addTask { try? await Task.sleep(for: .seconds(wait)) }
                    await group.next()
                    group.cancelAll()
                }
            }
        }
        // First, so that a change that comes meanwhile ends the next wait.
        let operations = administration.journal.operations
        let entries = administration.journal.entries(after: after)
        let last = entries.last?.number ?? administration.journal.last
        return try json(JournalPage(entries: entries, last: last, operations: operations))
    }

    private static func finite(_ text: String) -> Double? {
        Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// Returns a request of the journal with its bodies.
    func exchange(_ number: String) throws -> AdapterResponse {
        guard let number = Int(number), let (entry, bodies) = administration.journal.entry(number)
        else {
            throw RequestError(.notFound, reason: "The journal has no request '\(number)'")
        }
        return try json(Exchange(entry: entry, bodies: bodies?.shown))
    }

    // MARK: Schemas

    private func schema(
        _ container: String,
        _ kind: ServiceEnvironment
    ) async throws -> AdapterResponse {
        try json(
            SchemaState(
                text: try await service.exportSchema(container: container, environment: kind),
                outline: try await service.schemaOutline(container: container, environment: kind)
            )
        )
    }

    private func importSchema(
        _ new: NewSchema,
        _ container: String,
        _ kind: ServiceEnvironment
    ) async throws -> AdapterResponse {
        do {
            let changes = try await service.importSchema(
                new.text,
                container: container,
                environment: kind,
                isDryRun: new.isDryRun ?? false
            )
            return try json(SchemaChanges(changes))
        } catch let error as SchemaSyntaxError {
            throw RequestError(.badRequest, reason: error.description)
        }
    }
}

// MARK: Messages

/// A page of the journal.
struct JournalPage: Encodable {
    var entries: [JournalEntry]
    /// The number of the journal's newest request.
    var last: Int
    /// The number of changes to records by routes for operators, which have no entries.
    var operations: Int
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

private struct SchemaState: Encodable {
    var text: String
    var outline: SchemaOutline
}

private struct NewSchema: OperatorMessage {
    var text: String
    var isDryRun: Bool?

    enum CodingKeys: CodingKey, CaseIterable { case text, isDryRun }
}

private struct Deployment: OperatorMessage {
    var isDryRun: Bool?

    enum CodingKeys: CodingKey, CaseIterable { case isDryRun }
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
