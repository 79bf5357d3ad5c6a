import CloudKitWire
import CoreLocation
import Foundation

/// A query in the form of a request.
struct TranslatedQuery {
    let wire: WireQuery
    /// `true` when nothing can match, and no request is needed.
    let matchesNothing: Bool

    /// Creates the request's form of a query in the zone `home`, or in all zones for nil.
    ///
    /// - Throws: `CKError.invalidArguments` for a predicate that CloudKit's queries cannot express.
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
                message:
                    "A query's sort descriptor needs a key: write NSSortDescriptor(key:ascending:), not "
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
    /// Returns a sort descriptor from a request's sort key; nil if that names no field.
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
