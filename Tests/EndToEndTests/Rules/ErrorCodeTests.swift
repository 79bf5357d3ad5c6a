import CloudKit
import CloudKitTesting
import CloudKitWebClient
import Foundation
import Support
import Testing

/// Every code that the service, the transport or the client can produce.
@Suite("Error codes")
struct ErrorCodeTests {
    private let recordID = CKRecord.ID(recordName: "n")

    private static func refusal(_ code: String, _ more: String = "") -> String {
        #"{"serverErrorCode":"\#(code)","reason":"why","uuid":"u"\#(more)}"#
    }

    /// Returns a user's private database, behind a script.
    private func database(
        _ cloud: Cloud,
        _ script: @escaping ScriptedTransport.Script
    ) async throws -> CKDatabase {
        let transport = ScriptedTransport(script)
        return try await cloud.database(of: try await cloud.addUser(), transport: transport.over)
    }

    // MARK: From the service, by its own code

    struct Refusal: Sendable, CustomTestStringConvertible {
        let status: Int
        let code: String
        let native: CKError.Code
        var testDescription: String { code }
    }

    static let refusals: [Refusal] = [
        Refusal(status: 403, code: "ACCESS_DENIED", native: .permissionFailure),
        Refusal(status: 400, code: "ATOMIC_ERROR", native: .batchRequestFailed),
        Refusal(status: 401, code: "AUTHENTICATION_FAILED", native: .notAuthenticated),
        Refusal(status: 421, code: "AUTHENTICATION_REQUIRED", native: .notAuthenticated),
        Refusal(status: 400, code: "BAD_REQUEST", native: .invalidArguments),
        Refusal(status: 409, code: "CHANGE_TOKEN_EXPIRED", native: .changeTokenExpired),
        Refusal(status: 409, code: "EXISTS", native: .constraintViolation),
        Refusal(status: 500, code: "INTERNAL_ERROR", native: .internalError),
        Refusal(status: 404, code: "NOT_FOUND", native: .unknownItem),
        Refusal(status: 413, code: "QUOTA_EXCEEDED", native: .quotaExceeded),
        Refusal(status: 429, code: "THROTTLED", native: .requestRateLimited),
        Refusal(status: 503, code: "TRY_AGAIN_LATER", native: .serviceUnavailable),
        Refusal(status: 400, code: "UNIQUE_FIELD_ERROR", native: .constraintViolation),
        Refusal(
            status: 412,
            code: "VALIDATING_REFERENCE_ERROR",
            native: .referenceViolation
        ),
        Refusal(status: 503, code: "ZONE_BUSY", native: .zoneBusy),
        Refusal(status: 404, code: "ZONE_NOT_FOUND", native: .zoneNotFound),
        Refusal(status: 418, code: "SOMETHING_NEW", native: .internalError),
    ]

    @Test(
        "Each code of the service has its native one, with the reason and when to try again",
        arguments: CloudFixture.allCases,
        refusals
    )
    func refused(fixture: CloudFixture, refusal: Refusal) async throws {
        try await fixture.run { cloud in
            let database = try await database(cloud) { request, _ in
                request.isAbout("records/lookup")
                    ? .refusal(
                        refusal.status,
                        Self.refusal(refusal.code, #","retryAfter":3"#)
                    ) : nil
            }
            let error = await expectCKError(refusal.native) {
                try await database.record(for: recordID)
            }
            #expect(error?.localizedDescription == "why (\(refusal.code))")
            #expect(error?.retryAfterSeconds == 3)
            #expect(error?.userInfo[CKErrorRetryAfterKey] as? Double == 3)
            #expect(error?.userInfo[NSUnderlyingErrorKey] != nil)
            #expect(CKError.errorDomain == CKErrorDomain)
            #expect((error as NSError?)?.code == refusal.native.rawValue)
        }
    }

    @Test(
        "Each code of one item is that item's error, and leaves the others alone",
        arguments: CloudFixture.allCases,
        refusals
    )
    func refusedItem(fixture: CloudFixture, refusal: Refusal) async throws {
        // A conflict also contains the server's record, which has tests of its own.
        try await fixture.run { cloud in
            let item =
                #"{"recordName":"n","serverErrorCode":"\#(refusal.code)","reason":"why","retryAfter":3}"#
            let database = try await database(cloud) { request, _ in
                request.isAbout("records/lookup")
                    ? .ok(
                        #"""
                        {"records":[\#(item),{"recordName":"m","recordType":"Note","fields":{},
                        "recordChangeTag":"1"}]}
                        """#
                    ) : nil
            }
            let other = CKRecord.ID(recordName: "m")
            let results = try await database.records(for: [recordID, other])
            let error = await expectCKError(refusal.native) {
                try #require(results[recordID]).get()
            }
            #expect(error?.retryAfterSeconds == 3)
            #expect(try results[other]?.get().recordType == "Note")
        }
    }

    // MARK: From the way

    @Test(
        "Lost connections are networkUnavailable, networkFailure or operationCancelled",
        arguments: CloudFixture.allCases,
        [
            (TransportError.Code.unreachable, CKError.Code.networkUnavailable),
            (.broken, .networkFailure), (.timedOut, .networkFailure),
            (.cancelled, .operationCancelled),
        ]
    )
    func transport(
        fixture: CloudFixture,
        codes: (way: TransportError.Code, native: CKError.Code)
    ) async throws {
        try await fixture.run { cloud in
            let database = try await database(cloud) { request, _ in
                guard request.isAbout("records/lookup") else { return nil }
                throw TransportError(codes.way, message: "the way is gone")
            }
            let error = await expectCKError(codes.native) {
                try await database.record(for: recordID)
            }
            #expect(error?.localizedDescription == "the way is gone")
            #expect(error?.userInfo[NSUnderlyingErrorKey] is TransportError)
        }
    }

    @Test(
        "A response of something else is named, and its code says by its status what to try again",
        arguments: CloudFixture.allCases,
        [
            (502, CKError.Code.serviceUnavailable), (200, .serverResponseLost),
            (302, .networkFailure), (404, .networkFailure), (429, .requestRateLimited),
        ]
    )
    func foreign(fixture: CloudFixture, response: (status: Int, native: CKError.Code)) async throws
    {
        try await fixture.run { cloud in
            let database = try await database(cloud) { request, _ in
                request.isAbout("records/lookup")
                    ? .refusal(response.status, "<html>hello</html>") : nil
            }
            let error = await expectCKError(response.native) {
                try await database.record(for: recordID)
            }
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("18 bytes") && text.contains("\(response.status)"))
            // It may repeat the tokens of the request, in any form.
            #expect(!text.contains("hello"))
        }
    }

    @Test(
        "A response that cannot be read is serverResponseLost, and says where it goes wrong",
        arguments: CloudFixture.allCases
    )
    func unreadable200(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await database(cloud) { request, _ in
                request.isAbout("records/lookup")
                    ? .ok(#"{"records":[{"recordName":7,"recordType":"Note"}]}"#) : nil
            }
            let error = await expectCKError(.serverResponseLost) {
                try await database.record(for: recordID)
            }
            #expect(error?.localizedDescription.contains("recordName") == true)
            #expect(error?.userInfo[NSUnderlyingErrorKey] is WebClientError)
        }
    }

    // MARK: From the service, for real

    @Test(
        "A conflict carries the server's, the client's and the common version",
        arguments: CloudFixture.allCases
    )
    func serverRecordChanged(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let user = try await cloud.addUser()
            let phone = try await cloud.database(of: user)
            let laptop = try await cloud.database(of: user)
            let mine = CKRecord(recordType: "Note", recordID: recordID)
            mine["title"] = "common"
            try await phone.save(mine)
            let theirs = try await laptop.record(for: recordID)
            theirs["title"] = "theirs"
            try await laptop.save(theirs)
            mine["title"] = "mine"
            let error = await expectCKError(.serverRecordChanged) { try await phone.save(mine) }
            #expect(error?.serverRecord?["title"] == "theirs")
            #expect(error?.serverRecord?.recordChangeTag == theirs.recordChangeTag)
            #expect(error?.clientRecord === mine)
            #expect(error?.ancestorRecord?["title"] == "common")
            #expect(error?.userInfo[CKRecordChangedErrorServerRecordKey] is CKRecord)
            #expect(mine["title"] == "mine")
        }
    }

    @Test(
        "Another user's public record, and a read-only share: permissionFailure",
        arguments: CloudFixture.allCases
    )
    func permissionFailure(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let ada = try await cloud.device(of: try await cloud.addUser("Ada"))
            let bob = try await cloud.device(of: try await cloud.addUser("Bob"))
            let mine = try await ada.publicCloudDatabase.save(CKRecord(recordType: "Note"))
            let theirs = try await bob.publicCloudDatabase.record(for: mine.recordID)
            theirs["title"] = "theirs"
            await expectCKError(.permissionFailure) {
                try await bob.publicCloudDatabase.save(theirs)
            }

            let zone = try await ada.privateCloudDatabase.save(CKRecordZone(zoneName: "Z"))
            let root = CKRecord(
                recordType: "Note",
                recordID: CKRecord.ID(recordName: "root", zoneID: zone.zoneID)
            )
            let share = CKShare(rootRecord: root)
            share.publicPermission = .readOnly
            let (saved, _) = try await ada.privateCloudDatabase.modifyRecords(
                saving: [root, share],
                deleting: []
            )
            for result in saved.values { _ = try result.get() }
            let url = try #require(share.url)
            try await bob.accept(try await bob.shareMetadata(for: url))
            let shared = bob.sharedCloudDatabase
            let zoneID = try #require(try await shared.allRecordZones().first?.zoneID)
            let read = try await shared.record(
                for: CKRecord.ID(recordName: "root", zoneID: zoneID)
            )
            read["title"] = "changed"
            await expectCKError(.permissionFailure) { try await shared.save(read) }
        }
    }

    @Test(
        "A second subscription to the same changes of a type: internalError, as observed",
        arguments: CloudFixture.allCases
    )
    func secondWatch(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
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
            await expectCKError(.internalError) {
                try await database.save(subscription("b"))
            }
        }
    }

    // MARK: From the client

    @Test(
        "A file that is gone: assetFileNotFound, one that changes meanwhile: assetFileModified",
        arguments: CloudFixture.allCases
    )
    func files(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let file = FileManager.default.temporaryDirectory
                .appendingPathComponent(UUID().uuidString)
            try Data([1]).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let database = try await database(cloud) { request, _ in
                // The client has checked the file and requests an upload URL.
                if request.isAbout("assets/upload") { try Data(count: 10).write(to: file) }
                return nil
            }
            let record = CKRecord(recordType: "Note", recordID: recordID)
            record["file"] = CKAsset(fileURL: file)
            let modified = await expectCKError(.assetFileModified) {
                try await database.save(record)
            }
            #expect(modified?.localizedDescription.contains("field file") == true)
            try FileManager.default.removeItem(at: file)
            await expectCKError(.assetFileNotFound) { try await database.save(record) }
            await expectCKError(.unknownItem) { try await database.record(for: recordID) }
        }
    }

    @Test(
        "A file that cannot be read: assetNotAvailable",
        arguments: CloudFixture.allCases
    )
    func unreadable(fixture: CloudFixture) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let record = CKRecord(recordType: "Note", recordID: recordID)
            // A folder exists, but has no bytes.
            record["file"] = CKAsset(fileURL: FileManager.default.temporaryDirectory)
            await expectCKError(.assetNotAvailable) { try await database.save(record) }
            await expectCKError(.unknownItem) { try await database.record(for: recordID) }
        }
    }

    // MARK: All of them

    /// The codes of Apple's framework, starting with 1.
    private static let names = [
        "internalError", "partialFailure", "networkUnavailable", "networkFailure", "badContainer",
        "serviceUnavailable", "requestRateLimited", "missingEntitlement", "notAuthenticated",
        "permissionFailure", "unknownItem", "invalidArguments", "resultsTruncated",
        "serverRecordChanged", "serverRejectedRequest", "assetFileNotFound", "assetFileModified",
        "incompatibleVersion", "constraintViolation", "operationCancelled", "changeTokenExpired",
        "batchRequestFailed", "zoneBusy", "badDatabase", "quotaExceeded", "zoneNotFound",
        "limitExceeded", "userDeletedZone", "tooManyParticipants", "alreadyShared",
        "referenceViolation", "managedAccountRestricted", "participantMayNeedVerification",
        "serverResponseLost", "assetNotAvailable", "accountTemporarilyUnavailable",
        "participantAlreadyInvited",
    ]

    @Test("Every code has Apple's number, and the name that is matched in a catch")
    func numbers() {
        let codes = (0...1_000).compactMap(CKError.Code.init)
        #expect(codes.map(\.rawValue) == Array(1...37))
        #expect(codes.map { "\($0)" } == Self.names)
        do {
            throw CKError(.zoneNotFound)
        } catch CKError.zoneNotFound {
        } catch {
            Issue.record("\(error) was not matched")
        }
    }

    @Test("No code is without a cause that a test brings about")
    func completeness() {
        let caused = Set(ErrorCause.all.map(\.code.rawValue))
        #expect(Set(1...Self.names.count).subtracting(caused) == [])
        #expect(NativeErrorCode.allCases.map(\.rawValue) == Array(1...Self.names.count))
        #expect(NativeErrorCode.allCases.map(\.name) == Self.names)
    }

    @Test(
        "Every code comes about against a server, with its number, its userInfo and what to do",
        arguments: CloudFixture.allCases,
        ErrorCause.all
    )
    func causes(fixture: CloudFixture, cause: ErrorCause) async throws {
        try await fixture.run(configuration: cause.configuration) { cloud in
            let error = try #require(try await cause.provoke(cloud))
            #expect(error.errorCode == cause.code.rawValue)
            #expect((error as NSError).domain == CKErrorDomain)
            #expect(error.userInfo[NSLocalizedDescriptionKey] as? String != nil)
            #expect(error.userInfo[CKErrorRetryAfterKey] as? Double == error.retryAfterSeconds)
            let isPartial = error.partialErrorsByItemID != nil
            #expect(isPartial == (cause.code == .partialFailure))
            let isConflict = error.serverRecord != nil
            #expect(isConflict == (cause.code == .serverRecordChanged))
            let log = "\(error)"
            #expect(log.contains("\(cause.code) (\(cause.code.rawValue))"))
            #expect(log.contains(error.localizedDescription) && log.contains("; what to do: "))
        }
    }

    @Test(
        "A fault gives any code, with the reason and when to try again",
        arguments: CloudFixture.allCases,
        NativeErrorCode.allCases
    )
    func nativeFault(fixture: CloudFixture, native: NativeErrorCode) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let fault = Fault.nativeError(native, reason: "on purpose", retryAfter: 2)
            cloud.setFaults(
                FaultPlan(rules: [FaultRule(fault, operation: "records/lookup", call: 1)])
            )
            let code = try #require(CKError.Code(rawValue: native.rawValue))
            let error = await expectCKError(code) { try await database.record(for: recordID) }
            #expect(error?.retryAfterSeconds == 2)
            #expect(error?.localizedDescription.contains("on purpose") == true)
            await expectCKError(.unknownItem) { try await database.record(for: recordID) }
        }
    }

    @Test(
        "A fault gives one item any code, and leaves the others alone",
        arguments: CloudFixture.allCases,
        NativeErrorCode.allCases
    )
    func nativeItemFault(fixture: CloudFixture, native: NativeErrorCode) async throws {
        try await fixture.run { cloud in
            let database = try await cloud.database(of: try await cloud.addUser())
            let records = ["a", "b", "c"].map {
                CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: $0))
            }
            // A conflict also contains the server's record, so there must be one.
            _ = try await database.modifyRecords(saving: records, deleting: [])
            for record in records { record["title"] = "new" }
            let fault = Fault.nativeItemError(native, item: 1, reason: "on purpose")
            cloud.setFaults(
                FaultPlan(rules: [FaultRule(fault, operation: "records/modify", call: 1)])
            )
            let (results, _) = try await database.modifyRecords(saving: records, deleting: [])
            let code = try #require(CKError.Code(rawValue: native.rawValue))
            await expectCKError(code) { try #require(results[records[1].recordID]).get() }
            for record in [records[0], records[2]] {
                _ = try #require(results[record.recordID]).get()
            }
            let stored = try await database.record(for: records[1].recordID)
            #expect(stored["title"] == nil)
        }
    }
}
