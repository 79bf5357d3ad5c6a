import CloudKitCLI
import Foundation
import Testing

@Suite("cloudkit demo")
struct DemoTests {
    @Test("The demonstration runs to its end and reports what the tables hold")
    func report() async throws {
        let outcome = try await CommandProcess.run(["demo", "--json"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.objects().count == 1)
        let report = try JSONDecoder().decode(DemoReport.self, from: Data(outcome.output.utf8))
        let tables = try TimeZoneTables()
        #expect(report.countries == tables.countries.count)
        #expect(report.timeZones == tables.zones.count)
        #expect(report.records == tables.countries.count + tables.zones.count + 1)
        #expect(report.equal)
        #expect(report.conflictsResolved == 1)
        // One row was deleted and one added.
        #expect(report.storeRows == tables.countries.count)
        #expect(report.storeEditsOverruled == 1)
        #expect(report.requests > 0)
        #expect(report.seconds > 0)
    }

    @Test("Missing tables are an error that says what to install")
    func missingTables() async throws {
        let outcome = try await CommandProcess.run(["demo", "--zoneinfo", "/no/such/folder"])
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("apt-get install tzdata"))
    }

    @Test("Asked to keep serving, it goes on after the report, and tidies up when it is stopped")
    func keepServing() async throws {
        let demo = try await CommandProcess.start(["demo", "--keep-serving"])
        #expect(demo.greeting.contains(" countries with "))
        demo.end(SIGINT)
        #expect(demo.status == 0)
    }

    @Test("The bar grows with the work")
    func bar() {
        #expect(
            ProgressLine.text("x", percent: 0).contains("[------------------------------]   0 %")
        )
        #expect(
            ProgressLine.text("x", percent: 50).contains("[###############---------------]  50 %")
        )
        #expect(
            ProgressLine.text("x", percent: 100).contains("[##############################] 100 %")
        )
    }
}
