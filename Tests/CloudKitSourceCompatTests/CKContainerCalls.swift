// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

extension CKContainer {
    static let app = CKContainer(identifier: "iCloud.com.example.app")
}

/// The calls of an app to its container, so that a test can replace it.
protocol Accounts: AnyObject {
    func accountStatus(completionHandler: @escaping @Sendable (CKAccountStatus, Error?) -> Void)
    func accountStatus() async throws -> CKAccountStatus
    func userRecordID() async throws -> CKRecord.ID
    var privateCloudDatabase: CKDatabase { get }
}

extension CKContainer: Accounts {}

@Suite("Calls of CKContainer")
struct CKContainerCalls {
    @Test("Containers and their databases are found in all usual forms")
    func databases() {
        let container = CKContainer.app
        let accounts: any Accounts = container
        #expect(accounts.privateCloudDatabase === container.privateCloudDatabase)
        #expect(container.containerIdentifier == "iCloud.com.example.app")
        for scope in [CKDatabase.Scope.public, .private, .shared] {
            #expect(container.database(with: scope).databaseScope == scope)
        }
        #expect(CKCurrentUserDefaultName == "__defaultOwner__")
        #expect(CKAccountStatus(rawValue: 1) == .available)
    }

    func account(_ container: CKContainer) async throws {
        container.accountStatus { status, error in
            if status == .available { _ = error }
            switch status {
            case .couldNotDetermine, .available, .restricted, .noAccount, .temporarilyUnavailable:
                break
            @unknown default: break
            }
        }
        guard try await container.accountStatus() == .available else { return }
        container.fetchUserRecordID { recordID, error in _ = recordID?.recordName }
        let userRecordID = try await container.userRecordID()
        _ = try await container.publicCloudDatabase.record(for: userRecordID)
    }

    @available(*, deprecated)
    func users(_ container: CKContainer, _ userRecordID: CKRecord.ID) async throws {
        container.requestApplicationPermission(.userDiscoverability) { status, error in
            if status == .granted {}
        }
        container.status(forApplicationPermission: .userDiscoverability) { _, _ in }
        _ = try await container.requestApplicationPermission(.userDiscoverability)
        container.discoverUserIdentity(withEmailAddress: "a@example.com") { identity, _ in
            _ = identity?.nameComponents?.givenName
        }
        container.discoverUserIdentity(withPhoneNumber: "1") { _, _ in }
        container.discoverUserIdentity(withUserRecordID: userRecordID) { _, _ in }
        container.discoverAllIdentities { identities, _ in _ = identities?.count }
        _ = try await container.userIdentity(forEmailAddress: "a@example.com")
        _ = try await container.userIdentity(forUserRecordID: userRecordID)?.userRecordID
    }

    func sharing(_ container: CKContainer, _ url: URL) async throws {
        let metadata = try await container.shareMetadata(for: url)
        let share = try await container.accept(metadata)
        _ = share.url
        let results = try await container.accept([metadata])
        for (_, result) in results { _ = try result.get() }
        let metadatas = try await container.shareMetadatas(for: [url])
        _ = try metadatas[url]?.get().share
        container.fetchShareMetadata(with: url) { metadata, error in _ = metadata?.share }
        container.accept(metadata) { share, error in _ = share?.participants }
        container.fetchShareParticipant(withEmailAddress: "a@example.com") { participant, _ in
            participant?.permission = .readOnly
        }
        container.fetchShareParticipant(withPhoneNumber: "1") { _, _ in }
        container.fetchShareParticipant(withUserRecordID: CKRecord.ID(recordName: "u")) { _, _ in }
        _ = try await container.shareParticipant(forEmailAddress: "a@example.com")
        _ = try await container.shareParticipant(forPhoneNumber: "1")
        _ = try await container.shareParticipant(forUserRecordID: CKRecord.ID(recordName: "u"))
    }

    func longLived(_ container: CKContainer) async throws {
        container.fetchAllLongLivedOperationIDs { ids, error in
            for id in ids ?? [] {
                container.fetchLongLivedOperation(withID: id) { operation, error in
                    if let operation = operation as? CKModifyRecordsOperation {
                        container.add(operation)
                    }
                }
            }
        }
        for id in try await container.allLongLivedOperationIDs() {
            if let operation = try await container.longLivedOperation(for: id) {
                container.add(operation)
            }
        }
    }

    func configured(_ container: CKContainer) async throws {
        let configuration = CKOperation.Configuration()
        configuration.isLongLived = true
        let group = CKOperationGroup()
        container.configuredWith(configuration: configuration, group: group) { container in
            container.fetchUserRecordID { _, _ in }
        }
        let id = try await container.configuredWith(configuration: configuration) { container in
            try await container.userRecordID()
        }
        _ = id.recordName
    }

    func notifications(_ observer: NSObject) -> any NSObjectProtocol {
        NotificationCenter.default.addObserver(
            forName: .CKAccountChanged,
            object: nil,
            queue: .main
        ) { notification in _ = notification.name == .CKAccountChanged }
    }
}
