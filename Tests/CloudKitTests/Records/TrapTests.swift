import CloudKit
import Foundation
import Testing

/// Misuse for which Apple's framework throws an exception ends the process here, and nothing else
/// does.
@Suite("What ends the process")
struct TrapTests {
    @Test("An empty record type")
    func recordType() async {
        await #expect(processExitsWith: .failure) { _ = CKRecord(recordType: "") }
    }

    @Test("An empty record name")
    func recordName() async {
        await #expect(processExitsWith: .failure) { _ = CKRecord.ID(recordName: "") }
    }

    @Test("An empty zone name")
    func zoneName() async {
        await #expect(processExitsWith: .failure) { _ = CKRecordZone.ID(zoneName: "") }
    }

    @Test("A parent reference with an action")
    func parent() async {
        await #expect(processExitsWith: .failure) {
            let record = CKRecord(recordType: "Note")
            record.parent = CKRecord.Reference(
                recordID: CKRecord.ID(recordName: "parent"),
                action: .deleteSelf
            )
        }
    }

    @Test("A factory of operations on a subclass, which need not have an initialiser")
    func factories() async {
        // @unchecked Sendable because operations are, and this adds nothing.
        final class Zones: CKFetchRecordZonesOperation, @unchecked Sendable {}
        // @unchecked Sendable because operations are, and this adds nothing.
        final class User: CKFetchRecordsOperation, @unchecked Sendable {}
        // @unchecked Sendable because operations are, and this adds nothing.
        final class Subscriptions: CKFetchSubscriptionsOperation, @unchecked Sendable {}
        await #expect(processExitsWith: .failure) {
            _ = Zones.fetchAllRecordZonesOperation()
        }
        await #expect(processExitsWith: .failure) {
            _ = User.fetchCurrentUserRecordOperation()
        }
        await #expect(processExitsWith: .failure) {
            _ = Subscriptions.fetchAllSubscriptionsOperation()
        }
    }

    @Test("A value of a class that no field knows: an identifier, NSNull")
    func classes() async {
        await #expect(processExitsWith: .failure) {
            CKRecord(recordType: "Note").setValue(UUID(), forKey: "key")
        }
        await #expect(processExitsWith: .failure) {
            CKRecord(recordType: "Note").setValue(NSNull(), forKey: "key")
        }
    }

    @Test("A value that no record can hold: a dictionary, a list of lists, an address")
    func values() async {
        await #expect(processExitsWith: .failure) {
            CKRecord(recordType: "Note").setValue(["a": 1], forKey: "key")
        }
        await #expect(processExitsWith: .failure) {
            CKRecord(recordType: "Note").setValue([[1]], forKey: "key")
        }
        await #expect(processExitsWith: .failure) {
            let address = URL(string: "https://example.com")
            CKRecord(recordType: "Note").setValue(address, forKey: "key")
        }
    }
}
