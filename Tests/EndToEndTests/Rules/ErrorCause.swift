import CloudKit
import CloudKitExtras
import CloudKitTesting
import Foundation
import Support
import Testing

/// A cause of an error.
struct ErrorCause: Sendable, CustomTestStringConvertible {
    let code: CKError.Code
    /// The description of the cause.
    let how: String
    /// The limits that the cloud needs.
    var configuration = ServiceConfiguration()
    /// Causes the error, expects its code, and checks the specific contents of its `userInfo`.
    let provoke: @Sendable (Cloud) async throws -> CKError?

    var testDescription: String { "\(code): \(how)" }

    init(
        _ code: CKError.Code,
        _ how: String,
        configuration: ServiceConfiguration = ServiceConfiguration(),
        provoke: @escaping @Sendable (Cloud) async throws -> CKError?
    ) {
        self.code = code
        self.how = how
        self.configuration = configuration
        self.provoke = provoke
    }

    /// Creates the cause for a fault's code, which the next lookup of records receives.
    init(
        _ code: CKError.Code,
        fault: Fault,
        _ how: String = "a fault",
        retryAfter: Double? = nil
    ) {
        self.init(code, how) { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            cloud.setFaults(
                FaultPlan(rules: [FaultRule(fault, operation: "records/lookup", call: 1)])
            )
            let error = await expectCKError(code) {
                try await database.record(for: CKRecord.ID(recordName: "n"))
            }
            #expect(error?.retryAfterSeconds == retryAfter)
            #expect(error?.userInfo[CKErrorRetryAfterKey] as? Double == retryAfter)
            return error
        }
    }

    /// All causes, in the order of the codes.
    static let all = (network + service + client + records + zones + sharing + accounts + faults)
        .sorted { $0.code.rawValue < $1.code.rawValue }

    /// The codes without a cause on Linux, which only faults produce.
    private static let faults = [8, 13, 18, 37].compactMap { number -> ErrorCause? in
        guard let native = NativeErrorCode(rawValue: number),
            let code = CKError.Code(rawValue: number)
        else { return nil }
        return ErrorCause(code, fault: .nativeError(native))
    }

    // MARK: The way and the service

    private static let network = [
        ErrorCause(.networkUnavailable, "no server at the address") { cloud in
            let client = try await cloud.client(of: try await cloud.addUser())
            let device = CKContainer(
                client: WebClient(
                    url: "http://127.0.0.1:1",
                    container: client.container,
                    environment: client.environment,
                    credentials: client.credentials
                )
            )
            return await expectCKError(.networkUnavailable) {
                try await device.privateCloudDatabase.allRecordZones()
            }
        },
        ErrorCause(.networkFailure, fault: .resetConnection, "a connection that is reset"),
        ErrorCause(.serverResponseLost, "a response that cannot be read") { cloud in
            let script = ScriptedTransport { request, _ in
                request.isAbout("zones/list") ? .ok(#"{"zones":7}"#) : nil
            }
            let user = try await cloud.addUser()
            let database = try await cloud.database(of: user, transport: script.over)
            return await expectCKError(.serverResponseLost) {
                try await database.allRecordZones()
            }
        },
        ErrorCause(.operationCancelled, "the task was cancelled") { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await expectCKError(.operationCancelled) {
                    try await database.allRecordZones()
                }
            }
            return await task.value
        },
    ]

    private static let service = [
        ErrorCause(
            .serviceUnavailable,
            fault: .error(.tryAgainLater, retryAfter: 2),
            "a busy service",
            retryAfter: 2
        ),
        ErrorCause(
            .zoneBusy,
            fault: .error(.zoneBusy, retryAfter: 3),
            "a busy zone",
            retryAfter: 3
        ),
        ErrorCause(
            .constraintViolation,
            fault: .error(.uniqueFieldError),
            "a value that is to be unique, and is there"
        ),
        ErrorCause(.requestRateLimited, "more than a profile allows") { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            _ = try await database.allRecordZones()
            let profile = ThrottleProfile(burst: 1, perSecond: 0.01)
            cloud.setFaults(FaultPlan(rules: [FaultRule(.throttle(profile))]))
            _ = try await database.allRecordZones()
            let error = await expectCKError(.requestRateLimited) {
                try await database.allRecordZones()
            }
            #expect(try #require(error?.retryAfterSeconds) > 10)
            return error
        },
        ErrorCause(
            .quotaExceeded,
            "a user's quota",
            configuration: ServiceConfiguration(userQuotaBytes: 1_000)
        ) { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let record = CKRecord(recordType: "Note")
            record["text"] = String(repeating: "x", count: 2_000)
            return await expectCKError(.quotaExceeded) { try await database.save(record) }
        },
        ErrorCause(.internalError, "a second subscription to the same changes") { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            func subscription(_ name: String) -> CKSubscription {
                let subscription = CKQuerySubscription(
                    recordType: "Note",
                    predicate: NSPredicate(value: true),
                    subscriptionID: name,
                    options: .firesOnRecordCreation
                )
                subscription.notificationInfo = .init(shouldSendContentAvailable: true)
                return subscription
            }
            try await database.save(subscription("a"))
            return await expectCKError(.internalError) {
                try await database.save(subscription("b"))
            }
        },
    ]

    // MARK: Accounts

    private static let accounts = [
        ErrorCause(.badContainer, "nothing says where the service is") { _ in
            let error = await expectCKError(.badContainer) {
                try await CKContainer(identifier: "iCloud.none").privateCloudDatabase
                    .allRecordZones()
            }
            #expect(error?.localizedDescription.contains("CLOUDKIT_API_TOKEN") == true)
            return error
        },
        ErrorCause(.notAuthenticated, "nobody is signed in") { cloud in
            let database = try await cloud.database(of: nil)
            return await expectCKError(.notAuthenticated) { try await database.allRecordZones() }
        },
        ErrorCause(.managedAccountRestricted, "the device may not use the account") { cloud in
            let device = try await cloud.device(of: try await cloud.addUser())
            try cloud.setAccountStatus(.restricted, on: device)
            return await expectCKError(.managedAccountRestricted) {
                try await device.privateCloudDatabase.allRecordZones()
            }
        },
        ErrorCause(
            .managedAccountRestricted,
            fault: .nativeError(.managedAccountRestricted),
            "the service refuses the account"
        ),
        ErrorCause(.accountTemporarilyUnavailable, "the user has to sign in again") { cloud in
            let device = try await cloud.device(of: try await cloud.addUser())
            try cloud.setAccountStatus(.temporarilyUnavailable, on: device)
            return await expectCKError(.accountTemporarilyUnavailable) {
                try await device.privateCloudDatabase.allRecordZones()
            }
        },
        ErrorCause(
            .accountTemporarilyUnavailable,
            fault: .nativeError(.accountTemporarilyUnavailable, retryAfter: 60),
            "the service cannot use the account now",
            retryAfter: 60
        ),
    ]
}
