import Testing

@Suite("Scripts/layers")
struct LayersTests {
    @Test("A package that keeps to the table passes")
    func keepsToTable() async throws {
        let run = try await Fixture().check()
        #expect(run.status == 0)
        #expect(run.output == "layers: 4 targets keep to the table\n")
    }

    @Test("An edge to the same or a higher rank is named with both ranks")
    func ranks() async throws {
        var fixture = Fixture()
        fixture.setRow(of: "Other", to: "| 2 | `Other` | client | here | – | same rank |")
        fixture.targets.append(Target("Other", dependsOn: ["Client", "Bridge"]))
        let run = try await fixture.check()
        #expect(run.status == 1)
        #expect(
            run.output == """
                layers: Other (rank 2) depends on Bridge (rank 3): a target imports lower ranks only. \
                Remove the dependency, or move the shared part to a lower rank.
                layers: Other (rank 2) depends on Client (rank 2): a target imports lower ranks only. \
                Remove the dependency, or move the shared part to a lower rank.

                """
        )
    }

    @Test(
        "An edge across the sides is refused, however the ranks stand",
        arguments: [
            ("Server", "server", "Client", "client"),
            ("Client", "client", "Server", "server"),
            ("Wire", "shared", "Client", "client"),
            ("Wire", "shared", "Server", "server"),
            ("Client", "client", "Bridge", "bridge"),
            ("Server", "server", "Bridge", "bridge"),
        ]
    )
    func sides(source: String, side: String, target: String, other: String) async throws {
        var fixture = Fixture()
        fixture.addEdge(from: source, to: target)
        // High enough that only the sides can be wrong.
        fixture.setRow(
            of: source,
            to: "| 9 | `\(source)` | \(side) | here | `HTTPClient` | moved |"
        )
        let run = try await fixture.check()
        #expect(run.status == 1)
        #expect(
            run.output.contains(
                "layers: \(source) (\(side)) depends on \(target) (\(other)): "
                    + "client and server meet only in shared targets. "
                    + "Remove the dependency; only bridges import both sides.\n"
            )
        )
    }

    @Test("A target without a row is refused")
    func missingRow() async throws {
        var fixture = Fixture()
        fixture.setRow(of: "Server", to: nil)
        let run = try await fixture.check()
        #expect(run.status == 1)
        #expect(
            run.output == """
                layers: target 'Server' is missing from the rank table. \
                Add a row for it to docs/internals/architecture.md.

                """
        )
    }

    @Test("A row without a target is refused, and so is one that is no longer to come")
    func staleRows() async throws {
        var fixture = Fixture()
        fixture.setRow(of: "Gone", to: "| 2 | `Gone` | client | here | – | removed |")
        fixture.targets.append(Target("Store"))
        let run = try await fixture.check()
        #expect(run.status == 1)
        #expect(
            run.output == """
                layers: target 'Gone' is in the rank table but not in the manifest. \
                Remove its row, or mark it 'to come'.
                layers: target 'Store' is marked 'to come' but is in the manifest. Mark it 'here'.

                """
        )
    }

    @Test("A row with an unknown side or state, and a second row, are refused")
    func malformedRows() async throws {
        var fixture = Fixture()
        fixture.setRow(of: "Server", to: "| 2 | `Server` | middle | soon | – | rules |")
        fixture.rows.append("| 1 | `Wire` | shared | here | – | again |")
        let run = try await fixture.check()
        #expect(run.status == 1)
        #expect(run.output.contains("the row of 'Server' has side 'middle' and state 'soon'."))
        #expect(run.output.contains("target 'Wire' has 2 rows. Keep one."))
    }

    @Test("A module of another package that the row does not name is refused")
    func outsideModule() async throws {
        var fixture = Fixture()
        fixture.targets[2].products = ["SQL"]
        let run = try await fixture.check()
        #expect(run.status == 1)
        #expect(run.output.hasPrefix("layers: Server uses SQL, which its row"))
    }

    @Test("Tests may import anything, and nothing may import test support")
    func testTargets() async throws {
        var fixture = Fixture()
        fixture.targets.append(Target("Support", path: "Tests/Support", dependsOn: ["Bridge"]))
        fixture.targets.append(Target("WireTests", type: "test", dependsOn: ["Wire", "Support"]))
        #expect(try await fixture.check().status == 0)

        fixture.addEdge(from: "Client", to: "Support")
        let run = try await fixture.check()
        #expect(run.status == 1)
        #expect(
            run.output == """
                layers: Client depends on Support, which is test support. \
                Move what it needs into Sources.

                """
        )
    }

    @Test(
        "An import that the manifest does not declare is refused, in every form",
        arguments: [
            "import Server", "    import Server", "public import Server",
            "@testable import Server", "@_exported public import Server",
            "@_spi(Inner) import Server", "import struct Server.Rule",
        ]
    )
    func undeclaredImport(line: String) async throws {
        var fixture = Fixture()
        fixture.sources["Client/Deep/Rule.swift"] = "// A comment.\n\(line)\n"
        let run = try await fixture.check()
        #expect(run.status == 1)
        #expect(
            run.output == """
                layers: Sources/Client/Deep/Rule.swift imports Server, which the manifest does not \
                declare for Client. Remove the import, or declare the dependency in Package.swift.

                """
        )
    }

    @Test("Words about imports in comments, and modules of others, are no imports")
    func harmlessLines() async throws {
        var fixture = Fixture()
        fixture.sources["Client/Words.swift"] = """
            import Foundation
            // import Server
            /// Unlike `import Server`, this does nothing.
            let text = "import Server"
            let importServer = 1
            """
        #expect(try await fixture.check().status == 0)
    }

    @Test("A page without a table, and a file that is no manifest, fail")
    func nothingToCompare() async throws {
        var fixture = Fixture()
        fixture.rows = []
        fixture.targets = []
        let run = try await fixture.check()
        #expect(run.status == 1)
        #expect(run.output.contains("there is nothing to compare"))

        let folder = try TemporaryFolder()
        let dump = try folder.write("not JSON", to: "dump.json")
        #expect(try await Script.run("Scripts/layers", "--dump", dump).status != 0)
    }
}
