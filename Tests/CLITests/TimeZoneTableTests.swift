import CloudKitCLI
import Foundation
import Testing

@Suite("The time zone tables")
struct TimeZoneTableTests {
    @Test(
        "Coordinates of both forms are read as degrees",
        arguments: [
            ("+4230+00131", 42.5, 1 + 31.0 / 60), ("-690022+0393524", -(69 + 22.0 / 3600), 39.59),
            ("+0000+00000", 0, 0), ("-9000-18000", -90, -180),
        ]
    )
    func coordinates(text: String, latitude: Double, longitude: Double) throws {
        let degrees = try #require(ISO6709.degrees(text))
        #expect(abs(degrees.latitude - latitude) < 1e-9)
        #expect(abs(degrees.longitude - longitude) < 1e-9)
    }

    @Test(
        "Text of another form is refused",
        arguments: [
            "", "+", "4230+00131", "+4230", "+42300131", "+42+001", "+4260+00131", "+9100+00000",
            "+0000+18100", "+423060+0013100", "+42a0+00131", "+4230+00131x",
        ]
    )
    func otherCoordinates(text: String) {
        #expect(ISO6709.degrees(text) == nil)
    }

    private func directory(_ files: [String: String]) throws -> URL {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("TimeZoneTableTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (name, text) in files {
            try Data(text.utf8).write(to: directory.appendingPathComponent(name))
        }
        return directory
    }

    @Test("Comments are skipped, a zone may serve several countries and need no comment")
    func rows() throws {
        let directory = try directory([
            "iso3166.tab": "# comment\nCH\tSwitzerland\nDE\tGermany\n",
            "zone1970.tab":
                "#x\nCH,DE,LI\t+4723+00832\tEurope/Zurich\tBüsingen\nDE\t+5230+01322\tEurope/Berlin\n",
        ])
        defer { try? FileManager.default.removeItem(at: directory) }
        let tables = try TimeZoneTables(directory: directory.path)
        #expect(tables.countries.map(\.code) == ["CH", "DE"])
        #expect(tables.zones.map(\.countryCodes) == [["CH", "DE", "LI"], ["DE"]])
        #expect(tables.zones.map(\.comments) == ["Büsingen", nil])
    }

    @Test("Missing tables say what to install")
    func missing() {
        let error = #expect(throws: TimeZoneTableError.self) {
            _ = try TimeZoneTables(directory: "/no/such/directory")
        }
        #expect(error?.description.contains("/no/such/directory/iso3166.tab") == true)
        #expect(error?.description.contains("apt-get install tzdata") == true)
    }

    @Test("A malformed row is named by file and line")
    func malformed() throws {
        let directory = try directory([
            "iso3166.tab": "CH\tSwitzerland\n",
            "zone1970.tab": "# header\nCH\tnorth\tEurope/Zurich\n",
        ])
        defer { try? FileManager.default.removeItem(at: directory) }
        let error = #expect(throws: TimeZoneTableError.self) {
            _ = try TimeZoneTables(directory: directory.path)
        }
        #expect(error?.description.contains("zone1970.tab, line 2") == true)
    }

    @Test("The system's time zone tables are read completely")
    func real() throws {
        let tables = try TimeZoneTables()
        #expect(tables.countries.count > 240)
        #expect(tables.zones.count > 300)
    }
}
