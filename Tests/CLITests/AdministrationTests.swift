import Foundation
import Testing

@Suite("cloudkit users, tokens: a server's data, beside the server")
struct AdministrationTests {
    @Test("A user who is added beside the running server can sign in at once")
    func users() async throws {
        try await ServedCloud.run { cloud in
            let settings = try cloud.settings(of: "ada")
            let url = try #require(settings["CLOUDKIT_URL"])
            let added = try await CommandProcess.run([
                "users", "add", "Grace Hopper", "--email", "grace@example.com",
                "--data", cloud.data, "--no-password", "--json",
            ])
            #expect(added.status == 0, "\(added.errors)")
            let name = try #require(try added.objects().first?["userRecordName"] as? String)
            let listed = try await CommandProcess.run(["users", "list", "--data", cloud.data])
            #expect(listed.output.contains("Grace Hopper"))
            let file = cloud.path("grace.env")
            let token = try await CommandProcess.run([
                "tokens", "web-auth", "--user", "grace@example.com", "--data", cloud.data,
                "--url", url, "--output", file,
            ])
            #expect(token.status == 0, "\(token.errors)")
            #expect(token.output.isEmpty)
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let grace = ServedCloud.settings(try String(contentsOfFile: file, encoding: .utf8))
            let current = try await CommandProcess.run(
                ["users", "current", "--json"],
                settings: grace
            )
            #expect(current.status == 0, "\(current.errors)")
            #expect(try current.objects().first?["userRecordName"] as? String == name)

            let again = try await CommandProcess.run([
                "users", "add", "Other", "--email", "Grace@example.com", "--data", cloud.data,
                "--no-password",
            ])
            #expect(again.status == 1)
            #expect(again.errors.contains("already"))
            let nobody = try await CommandProcess.run([
                "tokens", "web-auth", "--user", "Nobody", "--data", cloud.data,
            ])
            #expect(nobody.status == 1)
            #expect(nobody.errors.contains("cloudkit users add"))
        }
    }

    @Test("A user who is refused is not added: not without a password, nor under any other name")
    func refusedUser() async throws {
        try await ServedCloud.run { cloud in
            func add(_ name: String, _ more: String...) async throws -> CommandProcess.Outcome {
                try await CommandProcess.run(
                    ["users", "add", name, "--data", cloud.data, "--password-file", "-"] + more,
                    input: "correct horse\n"
                )
            }
            let first = try await add("Eve B")
            #expect(first.status == 0, "\(first.errors)")
            let same = try await add("eve b", "--email", "eve2@example.com")
            #expect(same.status == 1)
            #expect(same.errors.contains("EXISTS"), "\(same.errors)")
            let bad = try await add("Grace", "--email", "notanemail")
            #expect(bad.status == 2)
            #expect(bad.errors.contains("is not an e-mail address"), "\(bad.errors)")
            let listed = try await CommandProcess.run([
                "users", "list", "--data", cloud.data, "--json",
            ])
            let users = try listed.objects()
            #expect(users.count == 3)
            let known = users.filter { $0["hasPassword"] as? Bool == true }
            #expect(known.map { $0["givenName"] as? String } == ["Eve"])
            #expect(!listed.output.contains("eve2"))
        }
    }

    @Test("A user is deleted with --force, and nothing of theirs is left")
    func deletedUser() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "Notes", as: "bob")
            func delete(_ more: String...) async throws -> CommandProcess.Outcome {
                try await CommandProcess.run(
                    ["users", "delete", "Bob", "--data", cloud.data] + more
                )
            }
            let refused = try await delete()
            #expect(refused.status == 2)
            #expect(refused.errors.contains("--force"), "\(refused.errors)")
            #expect(refused.errors.contains("Bob (_"), "\(refused.errors)")
            #expect(try await cloud.objects("zones", "list", as: "bob").count == 2)
            let deleted = try await delete("--force", "--json")
            #expect(try deleted.objects().map { $0["givenName"] as? String } == ["Bob"])
            #expect(!FileManager.default.fileExists(atPath: cloud.data + "/bob.env"))
            #expect(FileManager.default.fileExists(atPath: cloud.data + "/ada.env"))
            let again = try await delete("--force")
            #expect(again.errors.contains("No user Bob"), "\(again.errors)")
            let users = try await CommandProcess.run([
                "users", "list", "--data", cloud.data, "--json",
            ])
            #expect(try users.objects().map { $0["givenName"] as? String } == ["Ada"])
        }
    }

    @Test("Credentials that could not be handed out are revoked")
    func lostCredentials() async throws {
        try await ServedCloud.run { cloud in
            func count() async throws -> Int {
                try await CommandProcess.run([
                    "tokens", "list", "--data", cloud.data, "--json",
                ]).objects().count
            }
            let before = try await count()
            let nowhere = try await CommandProcess.run([
                "tokens", "api", "--data", cloud.data, "--output", "/nonexistent/x",
            ])
            #expect(nowhere.status == 2)
            #expect(nowhere.errors.contains("/nonexistent is no folder"), "\(nowhere.errors)")
            for command in [
                "api", "web-auth --user Ada", "server-key --private-key-file '\(cloud.path("k"))'",
            ] {
                let full = try await CommandProcess.shell(
                    "\"$0\" tokens \(command) --data '\(cloud.data)' >/dev/full"
                )
                #expect(full.status == 1, "\(command)")
                #expect(full.errors.contains("Standard output cannot be written"))
            }
            #expect(try await count() == before)
        }
    }

    @Test("A new API token reads the public database, and a server key writes to it")
    func tokens() async throws {
        try await ServedCloud.run { cloud in
            let url = try #require(try cloud.settings(of: "ada")["CLOUDKIT_URL"])
            let api = try await CommandProcess.run([
                "tokens", "api", "--data", cloud.data, "--url", url, "--json",
            ])
            let reader = try #require(try api.objects().first as? [String: String])
            let key = cloud.path("key.pem")
            let made = try await CommandProcess.run([
                "tokens", "server-key", "--private-key-file", key, "--data", cloud.data,
                "--url", url,
            ])
            #expect(made.status == 0, "\(made.errors)")
            let attributes = try FileManager.default.attributesOfItem(atPath: key)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let saved = try await CommandProcess.run(
                ["records", "save", "--type", "City", "--name", "zrh", "--field", "name=Zürich"],
                settings: ServedCloud.settings(made.output)
            )
            #expect(saved.status == 0, "\(saved.errors)")
            let read = try await CommandProcess.run(
                ["records", "get", "zrh", "--database", "public"],
                settings: reader
            )
            #expect(read.output.contains("Zürich"))
            // The same key may be registered for another environment.
            let again = try await CommandProcess.run([
                "tokens", "server-key", "--private-key-file", key, "--data", cloud.data,
                "--environment", "production",
            ])
            #expect(again.status == 0, "\(again.errors)")
        }
    }

    @Test(
        "What is revoked beside the running server is refused within seconds; others go on",
        .timeLimit(.minutes(5))
    )
    func revoke() async throws {
        try await ServedCloud.run { cloud in
            func administer(
                _ arguments: String...,
                input: String = ""
            ) async throws -> CommandProcess.Outcome {
                let place = ["--data", cloud.data, "--json"]
                return try await CommandProcess.run(arguments + place, input: input)
            }
            /// Waits until a user is refused, because a server looks its callers up every few seconds.
            func isRefused(_ user: String) async throws {
                while try await cloud.run("users", "current", as: user).status == 0 {
                    await Task.yield()
                }
                let refused = try await cloud.run("users", "current", as: user)
                #expect(refused.status == 1, "\(refused.errors)")
            }
            let settings = try cloud.settings(of: "ada")
            let token = try #require(settings["CLOUDKIT_WEB_AUTH_TOKEN"])
            var names: [String?] = []
            for user in ["ada", "bob"] {
                let current = try await cloud.objects("users", "current", as: user)
                names.append(current.first?["userRecordName"] as? String)
            }
            let listed = try await administer("tokens", "list").objects()
            #expect(listed.map { $0["kind"] as? String } == ["api", "web-auth", "web-auth"])
            #expect(Set(listed.compactMap { $0["userRecordName"] as? String }) == Set(names))
            #expect(listed.allSatisfy { ($0["id"] as? String)?.count == 64 })
            #expect(!listed.description.contains(token))

            // Nothing is revoked if one of the credentials does not exist.
            let typed = try await administer("tokens", "revoke", token, "none")
            #expect(typed.status == 1)
            #expect(typed.errors.contains("cloudkit tokens list"), "\(typed.errors)")
            #expect(try await administer("tokens", "list").objects().count == 3)

            let revoked = try await administer("tokens", "revoke", "-", input: token + "\n")
            #expect(revoked.status == 0, "\(revoked.errors)")
            #expect(try revoked.objects().map { $0["userRecordName"] as? String } == [names[0]])
            try await isRefused("ada")
            #expect(try await cloud.run("users", "current", as: "bob").status == 0)

            let signedOut = try await administer("users", "sign-out", "Bob")
            #expect(try signedOut.objects().map { $0["kind"] as? String } == ["web-auth"])
            try await isRefused("bob")

            let api = try #require(listed[0]["id"] as? String)
            let gone = try await administer("tokens", "revoke", String(api.prefix(12)))
            #expect(gone.status == 0, "\(gone.errors)")
            let left = try await administer("tokens", "list")
            #expect(left.status == 0 && left.output.isEmpty)
        }
    }

    @Test("Administration and requests write at the same time, and nothing is lost")
    func together() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("zones", "create", "Notes")
            let settings = try cloud.settings(of: "ada")
            let data = cloud.data
            let failures = try await withThrowingTaskGroup(of: String?.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        let added = try await CommandProcess.run([
                            "users", "add", "User \(index)", "--data", data, "--no-password",
                        ])
                        return added.status == 0 ? nil : added.errors
                    }
                    group.addTask {
                        let saved = try await CommandProcess.run(
                            [
                                "records", "save", "--type", "Note", "--name", "n\(index)",
                                "--field", "f\(index)=1", "--zone", "Notes",
                            ],
                            settings: settings
                        )
                        return saved.status == 0 ? nil : saved.errors
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }.compactMap(\.self)
            }
            #expect(failures == [])
            let users = try await CommandProcess.run([
                "users", "list", "--data", cloud.data, "--json",
            ])
            #expect(try users.objects().count == 10)
            let notes = try await cloud.objects("records", "query", "Note", "--zone", "Notes")
            #expect(notes.count == 8)
        }
    }

    @Test("A schema that is imported beside the running server counts at once")
    func schema() async throws {
        try await ServedCloud.run { cloud in
            try await cloud.objects("records", "save", "--type", "Note", "--field", "title=Milk")
            let find = ["records", "query", "Note", "--where", "title == Milk"]
            let settings = try cloud.settings(of: "ada")
            #expect(try await CommandProcess.run(find, settings: settings).status == 0)
            let file = try cloud.file(
                "s.ckdb",
                "DEFINE SCHEMA RECORD TYPE Note ( title STRING, "
                    + "\"___recordID\" REFERENCE QUERYABLE );"
            )
            let imported = try await CommandProcess.run([
                "schema", "import", file, "--data", cloud.data,
            ])
            #expect(imported.status == 0, "\(imported.errors)")
            let refused = try await CommandProcess.run(find, settings: settings)
            #expect(refused.status == 1)
            #expect(refused.errors.contains("title"))
        }
    }

    @Test("A role of the schema is granted and revoked beside the running server, and by its route")
    func roles() async throws {
        try await ServedCloud.run { cloud in
            let file = try cloud.file(
                "s.ckdb",
                """
                DEFINE SCHEMA CREATE ROLE editor;
                RECORD TYPE Article (title STRING, "___recordID" REFERENCE QUERYABLE,
                    GRANT READ, CREATE, WRITE TO editor);
                """
            )
            func administer(_ arguments: String...) async throws -> CommandProcess.Outcome {
                try await CommandProcess.run(arguments + ["--data", cloud.data])
            }
            #expect(try await administer("schema", "import", file).status == 0)
            let settings = try cloud.settings(of: "ada")
            let save = ["records", "save", "--type", "Article", "--database", "public"]
            let refused = try await CommandProcess.run(save, settings: settings)
            #expect(refused.errors.contains("ACCESS_DENIED"), "\(refused.errors)")
            let granted = try await administer("users", "roles", "Ada", "--grant", "editor")
            #expect(granted.output.contains("editor"), "\(granted.errors)")
            // The server looks again within 5 seconds.
            var saved = refused
            while saved.status != 0 {
                saved = try await CommandProcess.run(save, settings: settings)
            }
            let unknown = try await administer("users", "roles", "Ada", "--grant", "boss")
            #expect(unknown.status == 1)
            #expect(unknown.errors.contains("no role 'boss'"), "\(unknown.errors)")
            let other = try await administer("users", "roles", "Ada", "--revoke", "boss")
            #expect(other.errors.contains("but editor"), "\(other.errors)")
            let operators = ServedCloud.settings(
                try String(contentsOfFile: cloud.data + "/operator.env", encoding: .utf8)
            )
            let name =
                try await administer("users", "list", "--json").objects()
                .first { $0["givenName"] as? String == "Ada" }?["userRecordName"] as? String
            let container = try #require(operators["CLOUDKIT_CONTAINER"])
            let route = "containers/\(container)/users/\(try #require(name))/roles"
            let read = try await CommandProcess.run(
                ["operate", "GET", route],
                settings: operators
            )
            #expect(read.output.contains("editor"), "\(read.output)\(read.errors)")
            let body = #"{"environment": "development", "roles": []}"#
            let changed = try await CommandProcess.run(
                ["operate", "PUT", route, "--body", body],
                settings: operators
            )
            #expect(changed.status == 0, "\(changed.errors)")
            let denied = try await CommandProcess.run(save, settings: settings)
            #expect(denied.errors.contains("ACCESS_DENIED"), "\(denied.errors)")
        }
    }

    @Test(
        "A new folder is not made where its first step is refused",
        arguments: [
            (["users", "add", "Ada", "--no-password", "--new"], "--container"),
            (
                ["users", "add", "Ada", "--no-password", "--new", "--container", "a/b"],
                "is not a container"
            ),
            (
                ["users", "add", String(repeating: "a", count: 300), "--no-password", "--new"],
                "at most 255"
            ),
            (
                [
                    "users", "add", "Ada", "--password-file", "-", "--new", "--container",
                    "iCloud.a",
                ], "8 characters"
            ),
            (["serve", "--port", "0", "--user", ""], "--user: The user's name is blank"),
        ]
    )
    func refusedFirstStep(arguments: [String], message: String) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString).path
        let outcome = try await CommandProcess.run(
            arguments + ["--data", folder],
            input: "short\n"
        )
        #expect(outcome.status == (message == "8 characters" ? 1 : 2))
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test("A folder that is none of a server is not made by a command that was not to make one")
    func noFolder() async throws {
        for arguments in [
            ["users", "list"], ["schema", "export"], ["schema", "deploy"],
            ["users", "add", "Ada", "--no-password"], ["users", "add", "Ada"],
            ["tokens", "web-auth", "--user", "Ada"],
            ["tokens", "api"], ["check"], ["backup", "/tmp/never-written.tar"],
        ] {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent(UUID().uuidString).path
            let outcome = try await CommandProcess.run(arguments + ["--data", folder])
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("is not a data folder"))
            #expect(!FileManager.default.fileExists(atPath: folder))
        }
    }
}
