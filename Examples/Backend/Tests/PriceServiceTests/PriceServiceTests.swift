#if canImport(CloudKitTesting)
import CloudKit
import CloudKitTesting
import Hummingbird
import HummingbirdTesting
import PriceService
import Testing

@Suite("Prices over HTTP")
struct PriceServiceTests {
    /// The service over the public database of an empty cloud.
    private func service(
        _ cloud: TestCloud
    ) async throws -> Application<RouterResponder<BasicRequestContext>> {
        let program = try await cloud.device(of: try await cloud.addUser("Shop"))
        let routes = PriceRoutes(program.publicCloudDatabase)
        return Application(router: routes.router)
    }

    @Test("A price is set, read, set again and missed")
    func prices() async throws {
        let app = try await service(try await TestCloud())
        try await app.test(.router) { http in
            for cents in ["120", "130"] {
                let set = try await http.execute(
                    uri: "/prices/milk",
                    method: .put,
                    body: ByteBuffer(string: cents)
                )
                #expect(set.status == .ok)
                let read = try await http.execute(uri: "/prices/milk", method: .get)
                #expect(String(buffer: read.body) == cents)
            }
            let missing = try await http.execute(uri: "/prices/gold", method: .get)
            #expect(missing.status == .notFound)
            let wrong = try await http.execute(
                uri: "/prices/milk",
                method: .put,
                body: ByteBuffer(string: "cheap")
            )
            #expect(wrong.status == .badRequest)
        }
    }

    @Test("A cloud that is busy makes a service that is busy")
    func busy() async throws {
        let cloud = try await TestCloud()
        let app = try await service(cloud)
        cloud.setFaults(
            FaultPlan(rules: [
                FaultRule(.error(.tryAgainLater, retryAfter: 1), operation: "records/lookup")
            ])
        )
        try await app.test(.router) { http in
            let read = try await http.execute(uri: "/prices/milk", method: .get)
            #expect(read.status == .serviceUnavailable)
        }
    }
}
#endif
