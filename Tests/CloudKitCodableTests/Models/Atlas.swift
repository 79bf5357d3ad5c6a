import CloudKit
import CloudKitCodable

struct TimeZoneEntry: CloudKitModel, Equatable {
    var name: String
    var comments: String?
    @CloudKitValue var coordinate: CLLocation

    var recordName: String { "zone-" + name.replacing("/", with: "-") }
}

struct Country: CloudKitModel, Equatable {
    var code: String
    var name: String
    var timeZones: [TimeZoneEntry]

    var recordName: String { "country-" + code }
}

struct Atlas: CloudKitModel, Equatable {
    var edition: String
    var countries: [Country]
    var source: Data

    var recordName: String { "atlas" }

    static var fields: CloudKitFields { [CodingKeys.source: .asset] }
}

extension Atlas {
    static func sample(countries: Int = 3, timeZones: Int = 2) -> Atlas {
        Atlas(
            edition: "2026a",
            countries: (0..<countries).map { country in
                Country(
                    code: "C\(country)",
                    name: "Country \(country)",
                    timeZones: (0..<timeZones).map { zone in
                        TimeZoneEntry(
                            name: "Area\(country)/City\(zone)",
                            comments: zone == 0 ? nil : "most of it",
                            coordinate: CLLocation(
                                coordinate: CLLocationCoordinate2D(
                                    latitude: Double(country),
                                    longitude: Double(zone)
                                ),
                                altitude: 0,
                                horizontalAccuracy: 0,
                                verticalAccuracy: -1,
                                timestamp: Date(timeIntervalSinceReferenceDate: 1000)
                            )
                        )
                    }
                )
            },
            source: Data("# tz zones\n".utf8)
        )
    }
}
