import CloudKitWire
import CoreLocation
import Foundation

/// A query as a request says it.
struct TranslatedQuery {
    let wire: WireQuery
    /// Whether nothing can match, so that there is nothing to ask.
    let matchesNothing: Bool

    /// Translates a query of the zone `home`, or of all zones for nil.
    ///
    /// - Throws: `CKError.invalidArguments` for what CloudKit's queries cannot say.
    init(_ query: CKQuery, owners: OwnerMapping, home: CKRecordZone.ID?) throws(CKError) {
        let filters: QueryFilters
        do {
            filters = try QueryFilters(query.predicate, owners: owners, home: home)
        } catch {
            throw CKError(.invalidArguments, message: "\(error)")
        }
        var sorts: [WireSort] = []
        for descriptor in query.sortDescriptors ?? [] { sorts.append(try WireSort(descriptor)) }
        wire = WireQuery(
            recordType: query.recordType,
            filterBy: filters.filters,
            sortBy: sorts
        )
        matchesNothing = filters.matchesNothing
    }
}

extension WireSort {
    fileprivate init(_ descriptor: NSSortDescriptor) throws(CKError) {
        guard let key = descriptor.key else {
            throw CKError(
                .invalidArguments,
                message: "A query's order names a key: write NSSortDescriptor(key:ascending:), not "
                    + "a key path, selector or comparator"
            )
        }
        if let field = SystemField(key: key) {
            self.init(field, ascending: descriptor.ascending)
        } else {
            self.init(key, ascending: descriptor.ascending)
        }
        guard let descriptor = descriptor as? CKLocationSortDescriptor else { return }
        let coordinate = descriptor.relativeLocation.coordinate
        relativeLocation = WireField(
            .location(
                WireLocation(latitude: coordinate.latitude, longitude: coordinate.longitude)
            )
        )
    }
}

extension NSSortDescriptor {
    /// Makes an order from what a request says; nil when it names no field.
    static func make(_ sort: WireSort) -> NSSortDescriptor? {
        let system = sort.systemFieldName.flatMap(SystemField.init(name:))?.schemaName
        guard let key = sort.fieldName ?? system else { return nil }
        if case .location(let location) = sort.relativeLocation?.value {
            return CKLocationSortDescriptor(
                key: key,
                relativeLocation: CLLocation(
                    latitude: location.latitude,
                    longitude: location.longitude
                ),
                ascending: sort.ascending ?? true
            )
        }
        return NSSortDescriptor(key: key, ascending: sort.ascending ?? true)
    }
}
