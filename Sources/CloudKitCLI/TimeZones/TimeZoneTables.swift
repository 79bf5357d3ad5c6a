package import Foundation

/// The tables of the IANA time zone database that list countries and their time zones, as installed
/// by Debian's package tzdata.
package struct TimeZoneTables {
    /// A line of `iso3166.tab`.
    package struct CountryRow: Equatable {
        package let code: String
        package let name: String
    }

    /// A line of `zone1970.tab`.
    package struct ZoneRow: Equatable {
        package let countryCodes: [String]
        package let latitude: Double
        package let longitude: Double
        package let name: String
        package let comments: String?
    }

    /// The folder of the tables on Debian and most other systems.
    package static let directory = "/usr/share/zoneinfo"

    package let countries: [CountryRow]
    package let zones: [ZoneRow]
    /// The file with the zones.
    package let zoneFile: URL

    /// Creates the tables by reading both files.
    ///
    /// - Throws: `TimeZoneTableError` with the file and, if applicable, the line.
    package init(directory: String = TimeZoneTables.directory) throws(TimeZoneTableError) {
        let directory = URL(fileURLWithPath: directory, isDirectory: true)
        zoneFile = directory.appendingPathComponent("zone1970.tab")
        countries = try Self.rows(of: directory.appendingPathComponent("iso3166.tab")) { columns in
            columns.count == 2 ? CountryRow(code: columns[0], name: columns[1]) : nil
        }
        zones = try Self.rows(of: zoneFile) { columns in
            guard columns.count >= 3, let (latitude, longitude) = ISO6709.degrees(columns[1])
            else { return nil }
            return ZoneRow(
                countryCodes: columns[0].split(separator: ",").map(String.init),
                latitude: latitude,
                longitude: longitude,
                name: columns[2],
                comments: columns.count > 3 ? columns[3] : nil
            )
        }
    }

    private static func rows<Row>(
        of file: URL,
        parse: ([String]) -> Row?
    ) throws(TimeZoneTableError) -> [Row] {
        // The file is all that matters about the error.
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw .missing(file)
        }
        var rows: [Row] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated() where !line.isEmpty && !line.hasPrefix("#")
        {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard let row = parse(columns.map(String.init)) else {
                throw .malformed(file, line: index + 1)
            }
            rows.append(row)
        }
        return rows
    }
}
