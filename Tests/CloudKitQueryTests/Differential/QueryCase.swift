import CloudKit
import CloudKitCodable
import CoreLocation
import Foundation
import Support

/// One query of a world: a condition, a zone, an order and the size of its pages.
struct QueryCase {
    /// A key of an order.
    struct Sort {
        var field: String
        var isAscending: Bool
        var centre: OracleValue?
    }

    let name: String
    let condition: OracleCondition
    /// The zone; nil for all zones.
    let zone: String?
    let sorts: [Sort]
    let pageSize: Int

    init(_ name: String, _ generator: inout CaseGenerator) {
        self.name = name
        condition = generator.condition()
        zone = generator.pick([nil, nil, "A", "B", "_defaultZone"])
        var sorts: [Sort] = []
        for _ in 0..<generator.pick([0, 0, 1, 1, 2]) {
            let field = generator.pick(["s", "n", "x", "d", "b", "p", "t", "creationDate"])
            sorts.append(
                Sort(
                    field: field,
                    isAscending: generator.chance.chance(50),
                    centre: field == "p" ? generator.value(of: "p") : nil
                )
            )
        }
        self.sorts = sorts
        pageSize = generator.pick([3, 7, 50, 200])
    }

    var zoneID: CKRecordZone.ID? { zone.map { CKRecordZone.ID(zoneName: $0) } }

    var descriptors: [NSSortDescriptor] {
        sorts.map { sort in
            guard case .place(let latitude, let longitude)? = sort.centre else {
                return NSSortDescriptor(key: sort.field, ascending: sort.isAscending)
            }
            let order = CKLocationSortDescriptor(
                key: sort.field,
                relativeLocation: CLLocation(latitude: latitude, longitude: longitude)
            )
            guard !sort.isAscending else { return order }
            return order.reversedSortDescriptor as? NSSortDescriptor ?? order
        }
    }

    /// Returns whether a record may come before another one.
    func allows(_ first: OracleRecord, before second: OracleRecord) -> Bool {
        for sort in sorts {
            // The oracle has no clock.
            if sort.field == "creationDate" { return true }
            let (a, b) = (first.fields[sort.field], second.fields[sort.field])
            let order: Int
            switch (a, b) {
            case (nil, nil): order = 0
            case (nil, _): order = -1
            case (_, nil): order = 1
            case (let a?, let b?):
                guard let centre = sort.centre else {
                    order = a.order(b) ?? 0
                    break
                }
                let near = a.metres(to: centre) ?? 0
                let far = b.metres(to: centre) ?? 0
                // The oracle's formula differs: nearly equal distances have any order.
                order = abs(near - far) < 1 ? 0 : near < far ? -1 : 1
            }
            if order != 0 { return (order < 0) == sort.isAscending }
            // Records that are equal so far are only nearly equal by distance.
            if sort.centre != nil { return true }
        }
        return true
    }
}
