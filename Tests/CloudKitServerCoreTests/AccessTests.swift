import CloudKitServerCore
import CloudKitWire
import Foundation
import HTTPFixtures
import ServerFixtures
import Testing

@Suite("Credentials, zones and roles", .overHTTP)
struct AccessTests {
    let cloud: FixtureCloud
    let ada: FixtureCloud.User

    init() async throws {
        cloud = try await FixtureCloud()
        ada = try await cloud.addUser()
    }

    @Test("A private database asks for a user and says where to sign in")
    func signIn() async throws {
        let response = try await cloud.call("zones/list", as: nil)
        #expect(response.status == 421)
        #expect(response.code == "AUTHENTICATION_REQUIRED")
        #expect(response.body.redirectURL.text?.hasPrefix("http://cloud.test/") == true)
    }

    @Test("Unknown, expired and foreign tokens are refused")
    func wrongTokens() async throws {
        var forged = ada
        forged.token = "158__54__" + String(repeating: "A", count: 64)
        #expect(try await cloud.call("zones/list", as: forged).status == 421)
        let other = try await cloud.service.addAPIToken(
            container: FixtureCloud.container,
            environment: .development
        )
        let foreign = try await cloud.service.addWebAuthToken(
            user: ada.user,
            apiToken: other,
            environment: .development
        )
        let response = try await cloud.call("zones/list", as: .init(user: ada.user, token: foreign))
        #expect(response.status == 421)
        #expect(response.code == "AUTHENTICATION_REQUIRED")
        #expect(try await cloud.call("zones/list", as: ada).status == 200)
        cloud.clock.advance(seconds: 14 * 24 * 60 * 60)
        for _ in 0...1 {
            #expect(try await cloud.call("zones/list", as: ada).status == 421)
            cloud.clock.advance(seconds: 1)
        }
    }

    @Test("A caller with another container's credential does not learn whether this one exists")
    func otherContainers() async throws {
        _ = try await cloud.service.addAPIToken(
            container: "iCloud.known",
            environment: .development
        )
        func response(_ container: String, _ apiToken: String) async throws -> FixtureCloud.Response
        {
            let token = FixtureCloud.escape(ada.token)
            return try await cloud.send(
                ConformanceRequest(
                    method: "GET",
                    path: "/database/1/\(container)/development/private/zones/list",
                    query: "ckAPIToken=\(apiToken)&ckWebAuthToken=\(token)"
                )
            )
        }
        for container in ["iCloud.known", "iCloud.unknown"] {
            let other = try await response(container, cloud.apiToken)
            #expect(other.status == 401 && other.code == "AUTHENTICATION_FAILED")
            #expect(other.body.nativeErrorCode == 5)
            #expect(other.reason.contains("does not know the container '\(container)'"))
            let nobody = try await response(container, "0000")
            #expect(nobody.status == 401 && nobody.code == "AUTHENTICATION_FAILED")
            #expect(nobody.body.nativeErrorCode == nil && !nobody.reason.contains(container))
        }
        // The other environment of the same container is not another container.
        let path = "/database/1/\(FixtureCloud.container)/production/private/zones/list"
        let production = try await cloud.send(
            ConformanceRequest(
                method: "GET",
                path: path,
                query: "ckAPIToken=\(cloud.apiToken)"
            )
        )
        #expect(production.status == 401 && production.body.nativeErrorCode == nil)
    }

    @Test("The caller's response is bare")
    func caller() async throws {
        let response = try await cloud.call("users/caller", .public, as: ada, method: "GET")
        #expect(response.body.userRecordName == .string(ada.name))
        #expect(response.body.nameComponents.givenName == "Ada")
    }

    @Test("An unknown endpoint is not found; another method is refused")
    func unknown() async throws {
        let response = try await cloud.call("records/frobnicate", as: ada)
        #expect(response.status == 404)
        #expect(response.reason.contains("could not find handler for endpoint"))
        #expect(try await cloud.call("zones/list", as: ada, method: "PATCH").status == 400)
    }

    @Test("A database has its default zone; custom ones come and go in the private one only")
    func zones() async throws {
        try await cloud.addZone("Notes", as: ada)
        try await cloud.addZone("Notes", as: ada)
        let list = try await cloud.call("zones/list", as: ada, method: "GET")
        let names = list.body.zones.elements.map(\.zoneID.zoneName)
        #expect(names == ["Notes", "_defaultZone"])
        #expect(list.body.zones[0].zoneID.ownerRecordName == .string(ada.name))
        #expect(list.body.zones[0].atomic == true)
        #expect(list.body.zones[0].syncToken.text != nil)
        let lookup = try await cloud.call(
            "zones/lookup",
            as: ada,
            ["zones": [["zoneName": "Notes"], ["zoneID": ["zoneName": "Gone"]]]]
        )
        #expect(lookup.body.zones.elements.map(\.serverErrorCode) == [nil, "ZONE_NOT_FOUND"])
        let elsewhere = try await cloud.call(
            "zones/modify",
            .public,
            as: ada,
            [
                "operations": [
                    ["operationType": "create", "zone": ["zoneID": ["zoneName": "Notes"]]]
                ]
            ]
        )
        #expect(elsewhere.code == "BAD_REQUEST")
    }

    @Test("In the public database anyone reads, users create, creators change")
    func publicRoles() async throws {
        let bob = try await cloud.addUser("Bob")
        let anyone = try await cloud.modify(
            "_defaultZone",
            as: nil,
            database: .public,
            [FixtureCloud.note("create", "n0")]
        )
        #expect(anyone.records[0].serverErrorCode == "ACCESS_DENIED")
        #expect(anyone.records[0].reason.text?.hasPrefix("CREATE operation not permitted") == true)
        _ = try await cloud.modify(
            "_defaultZone",
            as: ada,
            database: .public,
            [FixtureCloud.note("create", "n1")]
        )
        let read = try await cloud.lookUp(["n1"], in: "_defaultZone", as: nil, database: .public)
        #expect(read.records[0].recordName == "n1")
        for kind in ["forceUpdate", "forceDelete"] {
            let other = try await cloud.modify(
                "_defaultZone",
                as: bob,
                database: .public,
                [FixtureCloud.note(kind, "n1")]
            )
            #expect(other.records[0].serverErrorCode == "ACCESS_DENIED")
        }
        let own = try await cloud.modify(
            "_defaultZone",
            as: ada,
            database: .public,
            [FixtureCloud.note("forceDelete", "n1")]
        )
        #expect(own.records[0].deleted == true)
    }

    @Test("Production takes no new types and fields")
    func production() async throws {
        let cloud = try await FixtureCloud(environment: .production)
        let ada = try await cloud.addUser()
        let response = try await cloud.modify(
            "_defaultZone",
            as: ada,
            [FixtureCloud.note("create", "n1")]
        )
        #expect(response.records[0].serverErrorCode == "BAD_REQUEST")
        #expect(
            response.records[0].reason.text?
                .hasPrefix("Cannot create new type Note in production schema") == true
        )
    }
}
