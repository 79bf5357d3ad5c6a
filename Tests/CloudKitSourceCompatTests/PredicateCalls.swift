// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CloudKit
import Testing

@Suite("Calls of predicates and queries")
struct PredicateCalls {
    @Test("Predicates are made in all usual forms")
    func predicates() {
        let owner = CKRecord(recordType: "Owner")
        let place = CLLocation(latitude: 1, longitude: 2)
        let names = ["a", "b"]
        let optional: String? = nil
        let predicates: [NSPredicate] = [
            NSPredicate(value: true),
            NSPredicate(format: "TRUEPREDICATE"),
            NSPredicate(format: "title == %@", "Milk"),
            NSPredicate(format: "%K == %@", "title", "Milk"),
            NSPredicate(format: "age >= %d AND age < %i", 3, 9),
            NSPredicate(format: "price > %f", 1.5),
            NSPredicate(format: "date > %@", Date() as NSDate),
            NSPredicate(format: "title IN %@", names),
            NSPredicate(format: "owner == %@", CKRecord.Reference(record: owner, action: .none)),
            NSPredicate(format: "owner == %@", owner),
            NSPredicate(format: "recordID IN %@", [owner.recordID]),
            NSPredicate(format: "distanceToLocation:fromLocation:(place, %@) < %f", place, 100.0),
            NSPredicate(format: "self contains %@", "milk"),
            NSPredicate(format: "title == %@", argumentArray: ["x"]),
            NSPredicate(format: "title == %@", optional ?? ""),
            NSPredicate(format: "date > %@", Date() as CVarArg),
            NSPredicate(format: "owner == %@", owner as CVarArg),
            NSPredicate(format: "id == %@ AND bytes == %@", UUID() as CVarArg, Data() as CVarArg),
            NSPredicate(format: "title IN %@", names as CVarArg),
            NSPredicate(format: "place == %@", place as CVarArg),
            NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(value: true)]),
            NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "age == 1")),
        ]
        #expect(predicates.count == 22)
        #expect(NSPredicate(format: "age == 1").evaluate(with: ["age": 1]))
    }

    @Test("Queries are sorted in all usual forms")
    func queries() {
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        query.sortDescriptors = [
            NSSortDescriptor(key: "age", ascending: true),
            NSSortDescriptor(key: CKRecord.SystemFieldKey.creationDate, ascending: false),
            CKLocationSortDescriptor(
                key: "place",
                relativeLocation: CLLocation(latitude: 1, longitude: 2)
            ),
        ]
        #expect(query.sortDescriptors?.map(\.key) == ["age", "___createTime", "place"])
        let records = [3, 1, 2].map { age -> CKRecord in
            let record = CKRecord(recordType: "Note")
            record["age"] = age
            return record
        }
        let sorted = (records as NSArray).sortedArray(
            using: [NSSortDescriptor(key: "age", ascending: true)]
        )
        #expect((sorted as? [CKRecord])?.map { $0["age"] as? Int } == [1, 2, 3])
    }
}
