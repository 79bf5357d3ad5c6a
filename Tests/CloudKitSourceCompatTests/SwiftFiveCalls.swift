// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
//
// Code that compiles only in Swift 5 mode, or only in another package; `Scripts/swift5` is both.
// There, completion handlers may change surrounding variables, as they could before concurrency
// checking; from Swift 6 on they may not.
#if swift(<6)
import CloudKit

extension CKAccountStatus: @retroactive CustomStringConvertible {
    public var description: String { "account \(rawValue)" }
}

extension CKRecord.ReferenceAction: @retroactive Codable {}

final class NotesController {
    var notes: [CKRecord] = []
    var message: String?
    private let database = CKContainer.default().privateCloudDatabase

    func reload(_ ids: [CKRecord.ID], then finish: @escaping ([CKRecord], Error?) -> Void) {
        database.fetch(withRecordIDs: ids) { result in
            self.notes = (try? result.get().values.compactMap { try? $0.get() }) ?? []
            finish(self.notes, nil)
        }
        database.fetchAllRecordZones { [weak self] _, error in
            self?.message = error?.localizedDescription
        }
    }

    func save(_ note: CKRecord, completionHandler: @escaping (CKRecord?, Error?) -> Void) {
        database.save(note, completionHandler: completionHandler)
        let save: (CKRecord, @escaping (CKRecord?, Error?) -> Void) -> Void = database.save
        save(note, completionHandler)
    }

    func count(_ zones: [CKRecordZone.ID]) -> Int {
        var count = 0
        var errors: [Error] = []
        let group = DispatchGroup()
        for zone in zones {
            group.enter()
            database.fetchRecordZoneChanges(inZoneWith: zone, since: nil) { result in
                switch result {
                case .success(let changes): count += changes.modificationResultsByID.count
                case .failure(let error): errors.append(error)
                }
                group.leave()
            }
        }
        group.wait()
        return errors.isEmpty ? count : 0
    }

    func account(_ container: CKContainer, _ url: URL) {
        var status = CKAccountStatus.couldNotDetermine
        container.accountStatus { found, _ in status = found }
        container.fetchUserRecordID { id, _ in self.message = id?.recordName }
        container.fetchShareMetadata(with: url) { metadata, _ in
            guard let metadata = metadata else { return }
            container.accept(metadata) { share, _ in self.notes += [share].compactMap { $0 } }
        }
        container.fetchShareParticipant(withEmailAddress: "a@example.com") { _, error in
            self.message = error?.localizedDescription
        }
        _ = status
    }
}
#endif
