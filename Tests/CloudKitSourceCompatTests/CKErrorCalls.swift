// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

@Suite("Calls of CKError")
struct CKErrorCalls {
    @Test("Errors are made, caught, matched and cast in all usual forms")
    func forms() throws {
        func fail(_ code: CKError.Code, _ userInfo: [String: Any] = [:]) throws {
            throw CKError(code, userInfo: userInfo)
        }
        do {
            try fail(.zoneNotFound)
        } catch CKError.zoneNotFound {
        } catch {
            Issue.record("\(error)")
        }
        do {
            try fail(.requestRateLimited, [CKErrorRetryAfterKey: 3.0])
        } catch let error as CKError where error.code == .requestRateLimited {
            #expect(error.retryAfterSeconds == 3)
            #expect(error.errorCode == 7 && error.code.rawValue == 7)
            #expect(error.userInfo[CKErrorRetryAfterKey] as? Double == 3)
        } catch {
            Issue.record("\(error)")
        }
        do {
            try fail(.networkFailure)
        } catch {
            if let error = error as? CKError { #expect(error.code == .networkFailure) }
            #expect((error as NSError).domain == CKErrorDomain)
            #expect((error as NSError).code == CKError.Code.networkFailure.rawValue)
            #expect((error as NSError).code == CKError.networkFailure.rawValue)
            #expect(!error.localizedDescription.isEmpty)
            switch error {
            case CKError.networkFailure, CKError.networkUnavailable: break
            default: Issue.record("not matched")
            }
            switch (error as? CKError)?.code {
            case .networkFailure?, .serviceUnavailable?, .zoneBusy?: break
            case .some, .none: Issue.record("not matched")
            }
        }
    }

    @Test("What an error carries is read in all usual forms")
    func contents() {
        let recordID = CKRecord.ID(recordName: "a")
        let server = CKRecord(recordType: "Note", recordID: recordID)
        let conflict = CKError(
            .serverRecordChanged,
            userInfo: [
                CKRecordChangedErrorServerRecordKey: server,
                CKRecordChangedErrorClientRecordKey: server,
                CKRecordChangedErrorAncestorRecordKey: server,
            ]
        )
        #expect(conflict.serverRecord === server && conflict.clientRecord === server)
        #expect(conflict.ancestorRecord === server)
        #expect(conflict.userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord === server)
        let partial = CKError(
            .partialFailure,
            userInfo: [CKPartialErrorsByItemIDKey: [recordID: conflict]]
        )
        let errors = partial.partialErrorsByItemID ?? [:]
        #expect((errors[recordID] as? CKError)?.code == .serverRecordChanged)
        for (key, error) in errors {
            #expect((key as? CKRecord.ID) == recordID && error is CKError)
        }
        #expect(CKError(.unknownItem) == CKError(.unknownItem))
        #expect(CKError.errorDomain == "CKErrorDomain")
        let result: Result<CKRecord, Error> = .failure(CKError(.unknownItem))
        if case .failure(let error as CKError) = result { #expect(error.code == .unknownItem) }
        #expect(throws: CKError.self) { try result.get() }
    }
}
