import Foundation
import Testing

@Suite("cloudkit assets")
struct AssetCommandTests {
    /// Uploads a file of 500,000 bytes as a photo's image.
    private func upload(to cloud: ServedCloud) async throws -> (file: String, record: String) {
        let photo = try cloud.file("photo.bin", String(repeating: "0123456789", count: 50_000))
        let saved = try await cloud.objects(
            "assets",
            "upload",
            photo,
            "--type",
            "Photo",
            "--field",
            "image"
        )
        return (photo, try #require(saved.first?["recordName"] as? String))
    }

    @Test("A file that was cut or changed on the server's disk is an error, and no file")
    func damagedAssets() async throws {
        try await ServedCloud.run { cloud in
            let (_, name) = try await upload(to: cloud)
            let assets = URL(fileURLWithPath: cloud.data + "/assets")
            let files = try FileManager.default.subpathsOfDirectory(atPath: assets.path)
            let file = assets.appendingPathComponent(
                try #require(files.first { $0.split(separator: "/").last?.count == 64 })
            )
            let bytes = try Data(contentsOf: file)
            var flipped = bytes
            flipped[250_000] ^= 1
            for damaged in [bytes.prefix(499_999), bytes + bytes, flipped] {
                try damaged.write(to: file)
                let copy = cloud.path("copy.bin")
                let outcome = try await cloud.run(
                    "assets",
                    "download",
                    copy,
                    "--name",
                    name,
                    "--field",
                    "image"
                )
                #expect(outcome.status != 0, "\(damaged.count)")
                #expect(!FileManager.default.fileExists(atPath: copy), "\(damaged.count)")
            }
        }
    }

    @Test("A file goes up and comes down unchanged; an existing one is not overwritten")
    func assets() async throws {
        try await ServedCloud.run { cloud in
            let (photo, name) = try await upload(to: cloud)
            let copy = cloud.path("copy.bin")
            let first = try await cloud.run(
                "assets",
                "download",
                copy,
                "--name",
                name,
                "--field",
                "image"
            )
            #expect(first.status == 0, "\(first.errors)")
            #expect(first.output.contains("500000 bytes"))
            #expect(FileManager.default.contentsEqual(atPath: photo, andPath: copy))
            let second = try await cloud.run(
                "assets",
                "download",
                copy,
                "--name",
                name,
                "--field",
                "image"
            )
            #expect(second.status == 2)
            #expect(second.errors.contains("--force"))
            try Data("other".utf8).write(to: URL(fileURLWithPath: copy))
            let forced = try await cloud.run(
                "assets",
                "download",
                copy,
                "--name",
                name,
                "--field",
                "image",
                "--force"
            )
            #expect(forced.status == 0, "\(forced.errors)")
            #expect(FileManager.default.contentsEqual(atPath: photo, andPath: copy))
            let missing = try await cloud.run(
                "assets",
                "download",
                cloud.path("x"),
                "--name",
                name,
                "--field",
                "image",
                "--index",
                "1"
            )
            #expect(missing.status == 1)
            #expect(missing.errors.contains("has 1 file;"))
            let both = try await cloud.objects(
                "records",
                "save",
                "--type",
                "Photo",
                "--asset",
                "image=\(photo)",
                "--field",
                "n=1"
            )
            let fields = both.first?["fields"] as? [String: [String: Any]]
            #expect(fields?["image"]?["value"] != nil)
            let nowhere = try await cloud.run(
                "assets",
                "upload",
                "/no/such/file",
                "--type",
                "Photo",
                "--field",
                "image"
            )
            #expect(nowhere.status == 2)
            #expect(nowhere.errors.contains("/no/such/file"))
        }
    }
}
