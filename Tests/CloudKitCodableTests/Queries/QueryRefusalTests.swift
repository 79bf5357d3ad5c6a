#if Macros
import CloudKit
import CloudKitCodable
import CoreLocation
import Foundation
import Testing

@Suite("Queries that CloudKit cannot run")
struct QueryRefusalTests {
    @Test(
        "A property that CloudKit does not search is refused with the reason",
        arguments: [
            (\.secret == "x", "secret", "it is encrypted"),
            (\.loose == "x", "loose", "it is stored as JSON bytes"),
            (\.id == "x", "id", "compare .recordID with a CKRecord.ID"),
            (\.title.isEmpty == true, "\\Memo.title", "not a stored property"),
            (
                .field(\.pages, contains: CKRecord.ID(recordName: "x")), "pages",
                "search them by note"
            ),
        ] as [(CloudKitPredicate<Memo>, String, String)]
    )
    func refusedProperties(
        predicate: CloudKitPredicate<Memo>,
        property: String,
        reason: String
    ) {
        for predicate in [predicate, predicate && \.count > 1, \.count > 1 && predicate] {
            let error = #expect(throws: CloudKitQueryError.self) {
                try Memo.query(where: predicate)
            }
            #expect(error?.property?.hasPrefix(property) == true)
            #expect(error?.message.contains(reason) == true, "\(error as Any)")
        }
    }

    @Test(
        "A condition that CloudKit does not know is refused with the reason",
        arguments: [
            (!(\.count > 1 && \.count < 5), "negate each of them"),
            (!(.field(\.count, isIn: 1...5)), "a range"),
            (!(.anyWord(of: "milk")), "a search for words"),
            (
                !(.field(\.place, isWithin: 1, of: CLLocation(latitude: 0, longitude: 0))),
                "a distance"
            ),
            (!(!(\.count > 1)), "cannot negate a negation"),
            (.allWords(of: " \n"), "no word"),
        ] as [(CloudKitPredicate<Memo>, String)]
    )
    func refusedConditions(predicate: CloudKitPredicate<Memo>, reason: String) {
        let error = #expect(throws: CloudKitQueryError.self) { try predicate.predicate() }
        #expect(error?.message.contains(reason) == true, "\(error as Any)")
        #expect(error?.recordType == "Note")
    }

    @Test("An order by a property that CloudKit does not sort by is refused")
    func refusedOrder() {
        let error = #expect(throws: CloudKitQueryError.self) {
            try Memo.query(sort: [.ascending(\.title), .descending(\.secret)])
        }
        #expect(error?.property == "secret")
    }

    @Test("A value that no field can hold is refused")
    func refusedValue() {
        let error = #expect(throws: CloudKitQueryError.self) {
            try Link.query(where: \.address == URL(filePath: "/tmp/file"))
        }
        #expect(error?.property == "address")
        #expect(throws: CloudKitQueryError.self) { try Link.query(where: \.number == UInt64.max) }
    }
}

@CloudKitRecord
struct Link: Identifiable {
    var id: String
    var address: URL
    var number: UInt64
}
#endif
