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

    /// Creates a file of 60 MB that takes no room.
    private func largeFile(in cloud: ServedCloud) throws -> String {
        let file = try cloud.file("large.mov", "")
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        try handle.truncate(atOffset: 60_000_000)
        try handle.close()
        return file
    }

    @Test("A file that is too large is named with its size and the limit before all was sent")
    func largeFile() async throws {
        try await ServedCloud.run { cloud in
            let file = try largeFile(in: cloud)
            let upload = ["assets", "upload", file, "--type", "Photo", "--field", "image"]
            let save = ["records", "save", "--type", "Photo", "--asset", "image=\(file)"]
            for arguments in [upload, save] {
                let outcome = try await CommandProcess.run(
                    arguments,
                    settings: try cloud.settings(of: "ada")
                )
                #expect(outcome.status == 1)
                #expect(!outcome.errors.contains("100 %"))
                #expect(outcome.errors.contains("large.mov has 60000000 bytes"))
                #expect(outcome.errors.contains("52428800"))
                #expect(outcome.errors.contains("--max-asset-bytes"), "\(outcome.errors)")
            }
        }
    }

    @Test("A file that is too large for iCloud is refused before any request")
    func largeFileForApple() async throws {
        try await ServedCloud.run { cloud in
            let file = try largeFile(in: cloud)
            let outcome = try await CommandProcess.run(
                ["assets", "upload", file, "--type", "Photo", "--field", "image"],
                settings: [
                    "CLOUDKIT_URL": "https://api.apple-cloudkit.com",
                    "CLOUDKIT_CONTAINER": "iCloud.com.example.notes",
                    "CLOUDKIT_API_TOKEN": "token", "CLOUDKIT_WEB_AUTH_TOKEN": "token",
                ]
            )
            #expect(outcome.status == 2)
            #expect(
                outcome.errors.contains(
                    "large.mov has 60000000 bytes, and iCloud takes 52428800 at most"
                ),
                "\(outcome.errors)"
            )
        }
    }

    @Test("A folder, a pipe or a device is refused, and not uploaded as a file of 0 bytes")
    func unusualFiles() async throws {
        try await ServedCloud.run { cloud in
            let pipe = cloud.path("pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            for path in [cloud.data, pipe, "/dev/null"] {
                let outcome = try await cloud.run(
                    "assets",
                    "upload",
                    path,
                    "--type",
                    "Photo",
                    "--field",
                    "image"
                )
                #expect(outcome.status == 2, "\(path)")
                #expect(outcome.errors.contains("\(path) is not a plain file"), "\(outcome.errors)")
            }
        }
    }
}
