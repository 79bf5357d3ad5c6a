import CloudKit
import CloudKitCodable
import CloudKitExtras
import CloudKitServerCore
import CloudKitStore
import CloudKitTesting
import CloudKitWebClient

// The examples in the documentation of types, as they stand there; they are compiled, and not run.
private enum TypeExamples {
    static func configuration() -> StoreConfiguration {
        var configuration = StoreConfiguration()
        configuration.includesSharedRows = true
        configuration.whenZoneIsDeleted = .upload
        configuration.onEvent = { event in
            if case .quarantined(let reason) = event { print(reason) }
        }
        return configuration
    }

    static func events(_ configuration: inout StoreConfiguration) {
        configuration.onEvent = { event in
            switch event {
            case .replacedByDuplicate(let table, let key): print("\(table) \(key) is there already")
            case .quotaExceeded: print("The user's iCloud storage is full")
            default: break
            }
        }
    }

    static func rules() -> [String: MergeRule] {
        // The later edit wins, but a draft never overrules a text, and visits of two devices add up.
        let rules: [String: MergeRule] = [
            "title": .laterEdit,
            "visits": .counter,
            "text": .custom { $0.local.isNull ? $0.remote : $0.local },
        ]
        return rules
    }

    static func status(_ store: CloudStore) async throws {
        let status = try await store.status
        for line in status.explanation { print(line) }
        for row in status.quarantined { print(row.table ?? "unknown table", row.reason) }
    }

    static func journal(_ store: CloudStore) async throws {
        for entry in try await store.journal(of: "note") where entry.rule == "access" {
            print(entry.date, entry.key, entry.lost)
            try await store.restore(entry)
        }
    }

    static func errors(_ store: CloudStore) async throws {
        do {
            try await store.start()
        } catch let error as CloudStoreError where error.code == .unreadableFile {
            print(error.message)
        }
    }

    static func missingRecords() -> CloudKitGraphDecoder {
        // A shelf shows although a book of it was deleted.
        let decoder = CloudKitGraphDecoder(missingRecords: .omit)
        return decoder
    }

    // A status that a later version of the app adds is read as `unknown`.
    enum Status: String, CloudKitStringEnum {
        case open, done, unknown

        static var cloudKitFallbackCase: Status? { .unknown }
    }

    struct Drawing: CloudKitAssetValue {
        var strokes: [[Double]]
    }

    static func size(_ record: CKRecord) {
        let size = RecordSize(of: record)
        if size.total > RecordSize.limit, let largest = size.fields.first {
            print("\(largest.key) takes \(largest.bytes) bytes")
        }
    }

    static func notifications(_ container: CKContainer) async throws {
        for try await notification in container.notifications(clientID: "importer") {
            print(notification.subscriptionID ?? "")
        }
    }

    static func policy() -> RetryPolicy {
        // At most five times: after 1, 2, 4 and 8 seconds, of which up to a half is left out.
        let policy = RetryPolicy(attempts: 5, delay: 1, longestDelay: 60, jitter: 0.5)
        return policy
    }

    static func credentials(
        apiToken: String,
        webAuthToken: String,
        keyID: String,
        pem: String
    ) throws -> [WebCredentials] {
        let user = WebCredentials(apiToken: apiToken, webAuthToken: webAuthToken)
        let server = WebCredentials(serverKey: try ServerKey(keyID: keyID, privateKeyPEM: pem))
        return [user, server]
    }

    static func client(_ service: CloudService, _ credentials: WebCredentials) -> WebClient {
        let client = WebClient(
            url: InProcessTransport.url,
            container: "iCloud.org.example.notes",
            environment: .development,
            credentials: credentials,
            transport: InProcessTransport(service: service)
        )
        return client
    }
}
