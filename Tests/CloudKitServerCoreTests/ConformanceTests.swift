import CloudKitServerCore
import CloudKitWire
import Foundation
import ServerFixtures
import Testing

@Suite("The table of requests and responses")
struct ConformanceTests {
    static let table = Result { try ConformanceTable() }
    static let areas = (try? table.get().areas) ?? []

    @Test("Every documented request gets its documented response", arguments: areas)
    func rows(area: ConformanceArea) async throws {
        for mismatch in try await ConformanceRun.play(area, ConformanceRun.inProcess) {
            Issue.record("\(mismatch)")
        }
    }

    @Test("There are enough rows, each with its own name")
    func count() throws {
        let table = try Self.table.get()
        #expect(table.rows.count >= 400)
        #expect(table.rows.count(where: \.isRefusal) >= 60)
        for area in table.areas {
            let names = area.rows.map(\.name)
            #expect(Set(names).count == names.count, "\(area): \(names.duplicates)")
        }
    }

    @Test("Every endpoint and every error code of the documents has rows")
    func coverage() throws {
        let table = try Self.table.get()
        let endpoints = Set(table.rows.compactMap(\.endpoint))
        for endpoint in Endpoint.allCases {
            #expect(endpoints.contains(endpoint.rawValue), "\(endpoint.rawValue) has no row")
        }
        let codes = Set(table.rows.flatMap(\.codes))
        let expected = [
            "ACCESS_DENIED", "ATOMIC_ERROR", "AUTHENTICATION_FAILED", "AUTHENTICATION_REQUIRED",
            "BAD_REQUEST", "CHANGE_TOKEN_EXPIRED", "CONFLICT", "INTERNAL_ERROR", "NOT_FOUND",
            "VALIDATING_REFERENCE_ERROR", "ZONE_NOT_FOUND",
        ]
        for code in expected { #expect(codes.contains(code), "\(code) has no row") }
    }

    @Test("A row with another response is reported")
    func difference() {
        let response: JSON = ["records": [["recordName": "a", "deleted": false]]]
        var names: [String: JSON] = [:]
        func mismatches(_ pattern: JSON) -> [String] {
            response.mismatches(pattern, binding: &names)
        }
        #expect(mismatches(["records": [["recordName": "a"]]]).isEmpty)
        #expect(mismatches(["records": [["recordName": "b"]]]).count == 1)
        #expect(mismatches(["records": []]).count == 1)
        #expect(mismatches(["records": [["deleted": ["$absent": true]]]]).count == 1)
        #expect(mismatches(["records": [["$keys": ["recordName"]]]]).count == 1)
        #expect(mismatches(["records": [["recordName": ["$bind": "name"]]]]).isEmpty)
        #expect(names["name"] == "a")
    }

    @Test("docs/reference/conformance.md shows the table; Scripts/conformance writes it")
    func page() throws {
        let text = try String(contentsOf: ConformanceTable.page, encoding: .utf8)
        let written = try Self.table.get().written(into: text)
        if ProcessInfo.processInfo.environment["CLOUDKIT_WRITE_CONFORMANCE"] != nil {
            try written.write(to: ConformanceTable.page, atomically: true, encoding: .utf8)
        } else {
            #expect(
                text == written,
                "docs/reference/conformance.md is stale; run Scripts/conformance"
            )
        }
    }
}

extension [String] {
    fileprivate var duplicates: [String] {
        Dictionary(grouping: self) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
    }
}
