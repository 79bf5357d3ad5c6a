public import CloudKit
import CloudKitCodable
public import Hummingbird

/// The routes of the service: `GET` and `PUT` of `/prices/ID`, with cents as text.
public struct PriceRoutes: Sendable {
    private let database: CKDatabase

    /// Creates the routes of a database.
    public init(_ database: CKDatabase) {
        self.database = database
    }

    /// The router of the whole service.
    public var router: Router<BasicRequestContext> {
        let router = Router()
        router.get("prices/:id") { _, context in
            try await told(context) {
                "\(try await price(context.parameters.require("id")).cents)"
            }
        }
        router.put("prices/:id") { request, context in
            let text = String(buffer: try await request.body.collect(upTo: 100))
            guard let cents = Int(text) else { throw HTTPError(.badRequest) }
            let price = Price(id: try context.parameters.require("id"), cents: cents)
            return try await told(context) {
                try await set(price)
                return "\(cents)"
            }
        }
        return router
    }

    private func price(_ id: String) async throws -> Price {
        let record = try await database.record(for: CKRecord.ID(recordName: id))
        return try CloudKitRecordDecoder().decode(Price.self, from: record)
    }

    /// Sets a price, whoever else sets it simultaneously: the last one counts.
    private func set(_ price: Price) async throws {
        let record = CKRecord(
            recordType: "Price",
            recordID: CKRecord.ID(recordName: price.id)
        )
        try CloudKitRecordEncoder().encode(price, onto: record)
        let results = try await database.modifyRecords(
            saving: [record],
            deleting: [],
            savePolicy: .changedKeys,
            atomically: false
        )
        for result in results.saveResults.values { _ = try result.get() }
    }

    /// Converts errors into HTTP errors; their details go to the operator's log.
    private func told(
        _ context: BasicRequestContext,
        _ body: () async throws -> String
    ) async throws -> String {
        do {
            return try await body()
        } catch let error as CKError {
            if error.code != .unknownItem {
                context.logger.error("CloudKit: \(error.code): \(error.localizedDescription)")
            }
            throw HTTPError(status(of: error))
        }
    }

    private func status(of error: CKError) -> HTTPResponse.Status {
        switch error.code {
        case .unknownItem: .notFound
        // Setting a price twice has the same effect as once, so a client may always retry.
        case .requestRateLimited, .serviceUnavailable, .zoneBusy, .networkUnavailable,
            .networkFailure, .serverResponseLost:
            .serviceUnavailable
        default: .internalServerError
        }
    }
}
