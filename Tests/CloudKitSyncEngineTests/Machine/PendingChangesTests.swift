import CloudKit
import Support
import Testing

@Suite("Pending changes")
struct PendingChangesTests {
    typealias Change = CKSyncEngine.PendingRecordZoneChange

    private let a = CKRecord.ID(recordName: "a")
    private let b = CKRecord.ID(recordName: "b")

    private func list(_ changes: [Change]) -> PendingChanges<Change> {
        var list = PendingChanges<Change>()
        for change in changes { list.add(change) }
        return list
    }

    @Test("A change is listed once, where it was first added")
    func duplicates() {
        let list = list([.saveRecord(a), .saveRecord(b), .saveRecord(a)])
        #expect(list.elements == [.saveRecord(a), .saveRecord(b)])
    }

    @Test("The opposite takes a change's place, at the end")
    func opposites() {
        #expect(
            list([.saveRecord(a), .saveRecord(b), .deleteRecord(a)]).elements
                == [.saveRecord(b), .deleteRecord(a)]
        )
        #expect(
            list([.deleteRecord(a), .saveRecord(b), .saveRecord(a)]).elements
                == [.saveRecord(b), .saveRecord(a)]
        )
    }

    @Test("A zone is known by its identity, whatever object names it")
    func zones() {
        var list = PendingChanges<CKSyncEngine.PendingDatabaseChange>()
        list.add(.saveZone(CKRecordZone(zoneName: "Notes")))
        list.add(.saveZone(CKRecordZone(zoneName: "Notes")))
        #expect(list.elements.count == 1)
        list.add(.deleteZone(CKRecordZone.ID(zoneName: "Notes")))
        #expect(list.elements == [.deleteZone(CKRecordZone.ID(zoneName: "Notes"))])
    }

    @Test("Removing what is not there changes nothing")
    func absent() {
        var list = list([.saveRecord(a)])
        let isRemoved = [list.remove(.deleteRecord(a)), list.remove(.saveRecord(b))]
        #expect(isRemoved == [false, false])
        #expect(list.elements == [.saveRecord(a)])
    }

    @Test("A change added again while it is in flight survives the acknowledgment")
    func acknowledgement() {
        var list = list([.saveRecord(a), .saveRecord(b)])
        let horizon = list.horizon
        list.add(.saveRecord(a))
        let isRemoved = [.saveRecord(a), .saveRecord(b)].map { list.remove($0, until: horizon) }
        #expect(isRemoved == [false, true])
        #expect(list.elements == [.saveRecord(a)])
    }

    @Test("Any sequence of additions and removals agrees with a plain array", arguments: 0..<50)
    func model(_ seed: UInt64) {
        var chance = SeededRandom(seed: seed)
        var list = PendingChanges<Change>()
        var model: [Change] = []
        for _ in 0..<400 {
            let recordID = CKRecord.ID(recordName: "\(chance.number(0...60))")
            let change: Change = chance.one(of: 2) ? .saveRecord(recordID) : .deleteRecord(recordID)
            if chance.one(of: 2) {
                list.add(change)
                if !model.contains(change) {
                    model.removeAll { $0.recordID == recordID }
                    model.append(change)
                }
            } else {
                list.remove(change)
                model.removeAll { $0 == change }
            }
            #expect(list.elements == model)
            #expect(list.count == model.count)
        }
    }
}
