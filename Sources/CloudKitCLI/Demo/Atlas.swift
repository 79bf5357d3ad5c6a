#if !canImport(Darwin) || PORTABLE_CLOUDKIT
package import CloudKit
package import CloudKitCodable
import CoreLocation
import Foundation

/// The root of the demonstration's values: all countries, and the file that they were read from.
package struct Atlas: CloudKitModel {
    package static let name = "atlas"

    package var recordName: String { Self.name }

    /// The table itself, as a file.
    @CloudKitValue package var source: CKAsset

    /// The countries by name.
    package var countries: [Country]
}

/// A country with its time zones.
package struct Country: CloudKitModel, Equatable {
    package var recordName: String { code }

    /// ISO 3166's two letters.
    package var code: String

    /// The English name.
    package var name: String

    /// The time zones, the most populous place's first; several countries may share one.
    package var timeZones: [TimeZoneEntry]
}

/// A time zone of the IANA database.
package struct TimeZoneEntry: CloudKitModel, Equatable {
    package var recordName: String { name }

    /// The zone's name, such as `Europe/Zurich`.
    package var name: String

    /// The place after which it is named.
    @CloudKitValue package var location: CLLocation

    /// What distinguishes it from the country's others.
    package var comments: String?
}

extension Atlas {
    /// Builds the values of the tables.
    package init(_ tables: TimeZoneTables) {
        var zones: [String: [TimeZoneEntry]] = [:]
        for row in tables.zones {
            let entry = TimeZoneEntry(row)
            for code in row.countryCodes { zones[code, default: []].append(entry) }
        }
        source = CKAsset(fileURL: tables.zoneFile)
        countries = tables.countries.map { row in
            Country(code: row.code, name: row.name, timeZones: zones[row.code] ?? [])
        }
    }
}

extension TimeZoneEntry {
    fileprivate init(_ row: TimeZoneTables.ZoneRow) {
        name = row.name
        // The table says nothing of a time; the epoch stands for "at any".
        location = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: row.latitude, longitude: row.longitude),
            altitude: 0,
            horizontalAccuracy: 0,
            verticalAccuracy: -1,
            timestamp: Date(timeIntervalSince1970: 0)
        )
        comments = row.comments
    }
}
#endif
