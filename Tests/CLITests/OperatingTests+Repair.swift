import CloudKitWebClient
import Foundation
import Testing

// Repairs that do not come to their end.
extension OperatingTests {
    /// A process that is killed as soon as a file of it grows beyond a limit, and one whose disk is
    /// full then; the limits, in KiB, end the repair in its tables, its files and its zones.
    @Test(
        "Wherever a repair is ended, each command says what to do, and another repair does it",
        .timeLimit(.minutes(10)),
        arguments: ["", "trap '' XFSZ; "]
    )
    func endedRepair(trap: String) async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            try damage(data, page: "indexEntry", "page[:] = bytes(len(page))")
            var ended = 0
            for limit in [40, 64, 96, 160, 256, 512] {
                let place = cloud.path("ended-\(limit)")
                try FileManager.default.copyItem(atPath: data, toPath: place)
                let repair = try await CommandProcess.run(
                    [
                        "-c", #"\#(trap)ulimit -f \#(limit); exec "$0" "$@""#,
                        CommandProcess.executable.path, "check", "--repair", "--data", place,
                    ],
                    executable: URL(fileURLWithPath: "/bin/bash")
                )
                let mark = place + "/cloud.sqlite-damaged"
                #expect(FileManager.default.fileExists(atPath: mark) == (repair.status != 0))
                if repair.status != 0 {
                    ended += 1
                    try await expectRefusals(in: place, cloud)
                }
                let healed = try await run("check", "--repair", "--data", place)
                #expect(healed.status == 0, "\(limit): \(healed.output)\(healed.errors)")
                #expect(!FileManager.default.fileExists(atPath: mark))
                let whole = try await run("check", "--data", place)
                #expect(whole.status == 0, "\(limit): \(whole.output)\(whole.errors)")
                let add = ["users", "add", "Carl", "--no-password", "--data", place]
                #expect(try await CommandProcess.run(add).status == 0, "\(limit)")
                let server = try await CommandProcess.start(Self.serve + ["--data", place])
                let found = try await CommandProcess.run(
                    ["records", "query", "--type", "Note", "--zone", "Notes", "--json"],
                    settings: try ada(place)
                )
                server.end(SIGTERM)
                #expect(try found.objects().count == 2, "\(limit): \(found.errors)")
            }
            #expect(ended > 1)
        }
    }

    /// Expects that nothing uses the data of a folder whose repair was ended as if it were whole.
    private func expectRefusals(in data: String, _ cloud: ServedCloud) async throws {
        let commands = [
            ["users", "add", "Carl", "--no-password"], ["schema", "deploy"], ["check"],
            ["backup", cloud.path("none.tar")],
        ]
        for command in commands {
            let outcome = try await CommandProcess.run(command + ["--data", data])
            #expect(outcome.status != 0, "\(command)")
            let text = outcome.output + outcome.errors
            #expect(text.contains("--repair"), "\(command): \(text)")
        }
        #expect(!FileManager.default.fileExists(atPath: cloud.path("none.tar")))
        let server = try await CommandProcess.start(Self.serve + ["--data", data])
        defer { server.end(SIGTERM) }
        // A server knows of it before its first request.
        let ready = try await get((try ada(data)["CLOUDKIT_URL"] ?? "") + "/health/ready")
        #expect(ready.status == 503)
        let text = String(decoding: ready.body, as: UTF8.self)
        #expect(text.contains("cloudkit check --repair"), "\(text)")
        let save = try await CommandProcess.run(
            ["records", "save", "--zone", "Notes", "--type", "Note", "--name", "late"],
            settings: try ada(data)
        )
        #expect(save.status != 0)
        #expect(save.errors.contains("cloudkit check --repair"), "\(save.errors)")
    }
}
