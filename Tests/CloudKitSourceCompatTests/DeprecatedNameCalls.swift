// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

/// Names that older apps still use, especially types of permissions.
@Suite("Deprecated names")
struct DeprecatedNameCalls {
    @available(*, deprecated)
    func permissions(_ container: CKContainer) async throws {
        let permissions: CKContainer.ApplicationPermissions = [.userDiscoverability]
        let nested: CKContainer.Application.Permissions = .userDiscoverability
        let flat: CKContainer_Application_Permissions = []
        let block: CKContainer.ApplicationPermissionBlock = { status, error in
            if status == .granted, error == nil {}
        }
        let nestedBlock: CKContainer.Application.PermissionBlock = { _, error in _ = error }
        let flatBlock: CKContainer_Application_PermissionBlock = { status, _ in
            switch status {
            case .initialState, .couldNotComplete, .denied, .granted: break
            @unknown default: break
            }
        }
        container.status(forApplicationPermission: permissions, completionHandler: block)
        container.status(forApplicationPermission: nested, completionHandler: nestedBlock)
        container.requestApplicationPermission(flat, completionHandler: flatBlock)
        container.requestApplicationPermission([.userDiscoverability]) { status, _ in
            let status: CKContainer.Application.PermissionStatus = status
            let same: CKContainer_Application_PermissionStatus = status
            _ = same == .denied
        }
        let status = try await container.applicationPermissionStatus(for: .userDiscoverability)
        let asked = try await container.requestApplicationPermission(.userDiscoverability)
        _ = status == asked && status.rawValue == 3
    }

    @available(*, deprecated)
    func queries(_ database: CKDatabase, _ query: CKQuery) async throws {
        let all: [CKRecord] = try await database.perform(query, inZoneWith: nil)
        let same: [CKRecord] = try await database.records(matching: query, inZoneWith: nil)
        _ = (all.first, same.first)
        database.perform(query, inZoneWith: .default) { records, error in
            guard let records, error == nil else { return }
            _ = records.map { $0["title"] as? String }
        }
        let configuration = CKFetchRecordZoneChangesOperation.ZoneOptions()
        configuration.resultsLimit = 1
        _ = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [.default],
            optionsByRecordZoneID: [.default: configuration]
        )
        let operation = CKModifyRecordsOperation(recordsToSave: all, recordIDsToDelete: nil)
        operation.container = CKContainer.default()
        operation.allowsCellularAccess = false
        operation.isLongLived = true
        operation.timeoutIntervalForRequest = 5
        operation.timeoutIntervalForResource = 50
    }

    @available(*, deprecated)
    private func names() -> [Bool] {
        let action: CKRecord_Reference_Action = .deleteSelf
        let status: CKShare_Participant_AcceptanceStatus = .pending
        let permission: CKShare_Participant_Permission = .readOnly
        let role: CKShare_Participant_Role = .owner
        let type: CKShare.ParticipantType = .privateUser
        let record = CKRecord(recordType: "Note", zoneID: CKRecordZone.ID.default)
        return [
            action == CKRecord.Reference.Action.deleteSelf,
            status == CKShare.Participant.AcceptanceStatus.pending,
            permission == CKShare.Participant.Permission.readOnly,
            role == CKShare.Participant.Role.owner,
            type == .privateUser,
            CKOwnerDefaultName == CKCurrentUserDefaultName,
            CKRecordZone.ID(zoneName: "Notes", ownerName: nil) == CKRecordZone.ID.notes,
            record.recordID.zoneID == .default,
            CKError.Code.resultsTruncated.rawValue == 13,
            CKContainer.ApplicationPermissions.userDiscoverability.rawValue == 1,
        ]
    }

    /// Provides deprecated declarations to a test, which is not deprecated.
    private protocol Names {
        func names() -> [Bool]
    }

    @Test("Every deprecated name stands for the same as its successor")
    func successors() {
        struct Old: Names {
            @available(*, deprecated)
            func names() -> [Bool] { DeprecatedNameCalls().names() }
        }
        let names: any Names = Old()
        #expect(names.names().allSatisfy { $0 })
    }
}
