#if !canImport(Darwin) || PORTABLE_CLOUDKIT
package import CloudKit
package import CloudKitCodable
import CoreLocation
import Foundation

/// The root of the demonstration's values: all countries, and their source file.
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

    /// The two letters of ISO 3166.
    package var code: String

    /// The English name.
    package var name: String

    /// The time zones, that of the most populous place first; several countries may share one.
    package var timeZones: [TimeZoneEntry]
}

/// A time zone of the IANA database.
package struct TimeZoneEntry: CloudKitModel, Equatable {
    package var recordName: String { name }

    /// The zone's name, such as `Europe/Zurich`.
    package var name: String

    /// The location of the place that gives it its name.
    @CloudKitValue package var location: CLLocation

    /// The distinction from the country's other zones.
    package var comments: String?
}

extension Atlas {
    /// Creates the values of the tables.
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
        // The table contains no time; the epoch represents "at any".
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
