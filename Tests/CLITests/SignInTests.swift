import CloudKitExtras
import Foundation
import Testing

@Suite("cloudkit sign-in")
struct SignInTests {
    /// Fills in the page at a URL, and returns the URL that it leads to.
    private func fillIn(_ address: String, name: String, password: String) async throws -> String? {
        let allowed = CharacterSet.alphanumerics
        let form = [("name", name), ("password", password)]
            .map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }
            .joined(separator: "&")
        let response = try await HTTPTransport().send(
            TransportRequest(
                method: "POST",
                url: address,
                headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: Data(form.utf8),
                timeout: 60
            )
        )
        return response.headers.first { $0.key.lowercased() == "location" }?.value
    }

    private func visit(_ address: String) async throws -> Int {
        try await HTTPTransport().send(
            TransportRequest(method: "GET", url: address, headers: [:], body: nil, timeout: 60)
        ).status
    }

    @Test("Prints the page, takes the token that the browser brings, and keeps it in its file")
    func tokenFile() async throws {
        try await ServedCloud.run { cloud in
            let password = try cloud.file("password", "correct horse battery\nsecond line\n")
            let added = try await CommandProcess.run([
                "users", "add", "Grace", "--data", cloud.data, "--password-file", password,
                "--json",
            ])
            #expect(added.status == 0, "\(added.errors)")
            let grace = try #require(try added.objects().first?["userRecordName"] as? String)
            var settings = try cloud.settings(of: "ada")
            settings["CLOUDKIT_WEB_AUTH_TOKEN"] = nil
            let file = cloud.path("token")
            try Data("an older token".utf8).write(to: URL(fileURLWithPath: file))
            settings["CLOUDKIT_WEB_AUTH_TOKEN_FILE"] = file
            let command = try await CommandProcess.start(
                ["sign-in", "--no-browser"],
                settings: settings
            )
            let address = command.greeting
            #expect(address.contains("/sign-in?ckAPIToken="))
            #expect(try await fillIn(address, name: "Grace", password: "second line") == nil)
            let location = try #require(
                try await fillIn(address, name: "grace", password: "correct horse battery")
            )
            // A caller that does not know the path cannot send a token.
            let port = try #require(URLComponents(string: location)?.port)
            let guess = "http://127.0.0.1:\(port)/signed-in/0?ckWebAuthToken=evil"
            #expect(try await visit(guess) == 404)
            #expect(try await visit(location) == 200)
            #expect(command.wait() == 0)
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let token = try String(contentsOfFile: file, encoding: .utf8)
            settings["CLOUDKIT_WEB_AUTH_TOKEN_FILE"] = nil
            settings["CLOUDKIT_WEB_AUTH_TOKEN"] = token.trimmingCharacters(in: .newlines)
            let current = try await CommandProcess.run(
                ["users", "current", "--json"],
                settings: settings
            )
            #expect(current.status == 0, "\(current.errors)")
            #expect(try current.objects().first?["userRecordName"] as? String == grace)
        }
    }

    #if os(Linux)
    @Test("A terminal asks for a password twice, and does not show it, however fast it comes")
    func terminal() async throws {
        try await ServedCloud.run { cloud in
            func add(_ name: String, _ again: String) throws -> String {
                try PseudoTerminal.show(
                    ["users", "add", name, "--data", cloud.data],
                    showsErrors: true,
                    answers: [("Password: ", "correct horse"), ("The same again: ", again)]
                )
            }
            let differing = try add("Eve", "correct house")
            #expect(differing.contains("The two passwords differ"), "\(differing)")
            #expect(!differing.contains("correct ho"), "\(differing)")
            let listed = try await CommandProcess.run(["users", "list", "--data", cloud.data])
            #expect(!listed.output.contains("Eve"))
            let added = try add("Grace", "correct horse")
            #expect(added.contains("Grace"), "\(added)")
            #expect(!added.contains("correct ho"), "\(added)")
            let settings = try cloud.settings(of: "ada")
            let address = try #require(settings["CLOUDKIT_URL"])
            let key = try #require(settings["CLOUDKIT_API_TOKEN"])
            let page =
                "\(address)/sign-in?ckAPIToken=\(key)&redirect=http%3A%2F%2F127.0.0.1%3A1%2Fback"
            #expect(try await fillIn(page, name: "Grace", password: "correct house") == nil)
            #expect(try await fillIn(page, name: "Grace", password: "correct horse") != nil)
        }
    }
    #endif

    @Test("A password comes from a file or a terminal, and never from nowhere")
    func passwords() async throws {
        try await ServedCloud.run { cloud in
            let nobody = try await CommandProcess.run(["users", "add", "Eve", "--data", cloud.data])
            #expect(nobody.status == 2)
            #expect(nobody.errors.contains("--no-password"))
            let short = try await CommandProcess.run(
                ["users", "add", "Eve", "--data", cloud.data, "--password-file", "-"],
                input: "short\n"
            )
            #expect(short.status == 1)
            let listed = try await CommandProcess.run(["users", "list", "--data", cloud.data])
            #expect(!listed.output.contains("Eve"))
            let changed = try await CommandProcess.run(
                ["users", "password", "Ada", "--data", cloud.data, "--password-file", "-"],
                input: "another long password\n"
            )
            #expect(changed.status == 0, "\(changed.errors)")
        }
    }

    @Test("No message reveals a token, even when the address is none")
    func secrets() async throws {
        try await ServedCloud.run { cloud in
            var settings = try cloud.settings(of: "ada")
            let tokens = [settings["CLOUDKIT_API_TOKEN"], settings["CLOUDKIT_WEB_AUTH_TOKEN"]]
            for address in [
                "127.0.0.1:8787", "localhost:8787", "//127.0.0.1:8787", "http://",
                "ftp://127.0.0.1",
                "http://127.0.0.1:1", "http://127.0.0.1:99999", "http://[::1",
                "http://127.0.0.1:1/%zz",
            ] {
                settings["CLOUDKIT_URL"] = address
                for arguments in [
                    ["users", "current"], ["zones", "list"], ["sign-in", "--no-browser"],
                ] {
                    let outcome = try await CommandProcess.run(arguments, settings: settings)
                    #expect(outcome.status != 0)
                    for token in tokens.compactMap(\.self) {
                        #expect(!(outcome.errors + outcome.output).contains(token), "\(address)")
                    }
                    #expect(!outcome.errors.contains("158__54__"))
                }
            }
        }
    }
}
