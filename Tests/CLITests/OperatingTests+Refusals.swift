import Foundation
import Testing

// Folders, archives and disks with which a command can do nothing.
extension OperatingTests {
    /// A folder into which its user may not look, and one in which its user may not write.
    @Test(
        "A folder that its user may not write to is not checked, and the refusal has the remedy",
        arguments: [0, 0o555]
    )
    func unwritable(permissions: Int) async throws {
        try await ServedCloud.run { cloud in
            let data = try await copy(of: cloud)
            let manager = FileManager.default
            try manager.setAttributes([.posixPermissions: permissions], ofItemAtPath: data)
            // The superuser is one like all others without the capabilities.
            let outcome = try await CommandProcess.shell(
                """
                set -- "$0" check --repair --data '\(data)'
                [ "$(id -u)" != 0 ] || set -- setpriv --bounding-set=-all --inh-caps=-all "$@"
                exec "$@"
                """
            )
            try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: data)
            #expect(outcome.status == 2)
            let remedy = "run the command as the server's user"
            #expect(outcome.errors.contains(remedy), "\(outcome.errors)")
            let left = try manager.contentsOfDirectory(atPath: data)
            #expect(left.sorted() == ["assets", "cloud.sqlite"])
        }
    }

    @Test("An archive that a newer version wrote, or with its data, is not restored")
    func newerArchive() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let archive = cloud.path("cloud.tar")
            try #require(try await run("backup", archive, "--data", cloud.data).status == 0)
            try python(
                """
                import base64, hashlib, io, json, tarfile
                source, data, *targets = sys.argv[1:]
                with tarfile.open(source) as archive:
                    files = {each.name: archive.extractfile(each).read() for each in archive}

                def write(path, contents, **changes):
                    manifest = json.loads(files["manifest.json"])
                    manifest |= {
                        "databaseBytes": len(contents),
                        "databaseChecksum": base64.b64encode(hashlib.sha256(contents).digest()).decode(),
                    } | changes
                    changed = {"manifest.json": json.dumps(manifest).encode(), "cloud.sqlite": contents}
                    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
                        for name, content in (files | changed).items():
                            entry = tarfile.TarInfo(name)
                            entry.size = len(content)
                            archive.addfile(entry, io.BytesIO(content))

                with open(data, "wb") as file:
                    file.write(files["cloud.sqlite"])
                c = sqlite3.connect(data)
                c.execute("INSERT INTO grdb_migrations (identifier) VALUES ('v999-future')")
                c.commit()
                c.close()
                with open(data, "rb") as file:
                    newer = file.read()
                write(targets[0], files["cloud.sqlite"], format=999)
                write(targets[1], newer)
                write(targets[2], files["cloud.sqlite"])
                """,
                archive,
                cloud.path("newer.sqlite"),
                cloud.path("format.tar"),
                cloud.path("data.tar"),
                cloud.path("same.tar")
            )
            let target = cloud.path("restored")
            for name in ["format.tar", "data.tar"] {
                let outcome = try await run("restore", cloud.path(name), "--data", target)
                #expect(outcome.status == 2)
                for text in [cloud.path(name), "newer version of cloudkit", "that version"] {
                    #expect(outcome.errors.contains(text), "\(outcome.errors)")
                }
                #expect(!FileManager.default.fileExists(atPath: target))
            }
            let same = try await run("restore", cloud.path("same.tar"), "--data", target)
            #expect(same.status == 0, "\(same.errors)")
        }
    }

    @Test("Of a database of a newer version there is no backup")
    func newerBackup() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            try sqlite(
                data + "/cloud.sqlite",
                "INSERT INTO grdb_migrations (identifier) VALUES ('v999-future')"
            )
            let outcome = try await run("backup", cloud.path("b.tar"), "--data", data)
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("newer version of cloudkit"), "\(outcome.errors)")
            #expect(!FileManager.default.fileExists(atPath: cloud.path("b.tar")))
        }
    }

    @Test("A new folder on a full disk is removed again")
    func newFolderOnFullDisk() async throws {
        try await ServedCloud.run { cloud in
            let folder = cloud.path("new")
            let outcome = try await CommandProcess.run(
                [
                    "-c", #"trap '' XFSZ; ulimit -f 8; exec "$0" "$@""#,
                    CommandProcess.executable.path, "users", "add", "Ada", "--no-password",
                    "--new", "--container", "iCloud.com.example.new", "--data", folder,
                ],
                executable: URL(fileURLWithPath: "/bin/bash")
            )
            #expect(outcome.status == 2)
            #expect(!FileManager.default.fileExists(atPath: folder))
        }
    }

    @Test("A full disk is that of the backup or of the new folder, not of the data")
    func fullDisk() async throws {
        try await ServedCloud.run { cloud in
            try await fill(cloud)
            let data = try await copy(of: cloud)
            let size =
                try FileManager.default
                .attributesOfItem(atPath: data + "/cloud.sqlite")[.size] as? Int
            // Enough for the database, not for the archive with its assets.
            let blocks = (try #require(size) + 100_000) / 1024
            let limited = try await CommandProcess.run(
                [
                    "-c", #"trap '' XFSZ; ulimit -f \#(blocks); exec "$0" "$@""#,
                    CommandProcess.executable.path, "backup", cloud.path("b.tar"), "--data", data,
                ],
                executable: URL(fileURLWithPath: "/bin/bash")
            )
            #expect(limited.status == 2)
            #expect(
                limited.errors.contains("The disk of \(cloud.path("b.tar")) is full"),
                "\(limited.errors)"
            )
            let archive = cloud.path("copied.tar")
            let restored = try await CommandProcess.run(
                [
                    "-c", #"trap '' XFSZ; ulimit -f 100; exec "$0" "$@""#,
                    CommandProcess.executable.path, "restore", archive, "--data",
                    cloud.path("again"),
                ],
                executable: URL(fileURLWithPath: "/bin/bash")
            )
            #expect(restored.status == 2)
            #expect(
                restored.errors.contains("The disk of \(cloud.path("again")) is full"),
                "\(restored.errors)"
            )
            #expect(!FileManager.default.fileExists(atPath: cloud.path("again")))
        }
    }

    @Test("A name that no file can have is refused before anything is backed up")
    func impossibleNames() async throws {
        try await ServedCloud.run { cloud in
            for name in ["", cloud.path(String(repeating: "x", count: 300))] {
                let outcome = try await run("backup", name, "--data", cloud.data)
                #expect(outcome.status == 2)
                #expect(
                    outcome.errors.contains("The name of the file to write"),
                    "\(outcome.errors)"
                )
                #expect(outcome.errors.split(separator: "\n").count == 1)
            }
        }
    }

    @Test("A folder or a pipe is no archive, and a restore does not wait for one who writes it")
    func unusualArchives() async throws {
        try await ServedCloud.run { cloud in
            let pipe = cloud.path("pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            for path in [cloud.data, pipe] {
                let target = cloud.path("new")
                let outcome = try await run("restore", path, "--data", target)
                #expect(outcome.status == 2)
                #expect(
                    outcome.errors == "Error: \(path): there is no plain file that can be read\n"
                )
                #expect(!FileManager.default.fileExists(atPath: target))
            }
        }
    }

    @Test("A file that cannot be written is named with the system's reason alone")
    func unwritableFiles() async throws {
        try await ServedCloud.run { cloud in
            let settings = try cloud.settings(of: "ada")
            try await fill(cloud)
            for command in [
                ["schema", "export", "--data", cloud.data, "--output", cloud.path("s")],
                ["export", cloud.path("e"), "--assets", cloud.path("a"), "--zone", "Notes"],
            ] {
                let outcome = try await CommandProcess.run(
                    [
                        "-c", #"trap '' XFSZ; ulimit -f 0; exec "$0" "$@""#,
                        CommandProcess.executable.path,
                    ] + command,
                    settings: settings,
                    executable: URL(fileURLWithPath: "/bin/bash")
                )
                #expect(outcome.status != 0)
                #expect(!outcome.errors.contains("Domain"), "\(outcome.errors)")
                #expect(outcome.errors.contains("File too large"), "\(outcome.errors)")
            }
        }
    }
}
