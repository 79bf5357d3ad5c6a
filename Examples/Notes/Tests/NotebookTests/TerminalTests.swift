#if canImport(CloudKitTesting)
import ExampleSupport
import Testing

@Suite("Two terminals", .timeLimit(.minutes(10)))
struct TerminalTests {
    /// Runs a test with a server, and a function that starts the program with a file.
    private func withServer(
        _ body: @Sendable (@Sendable (String) throws -> Terminal) async throws -> Void
    ) async throws {
        try await ExampleServer.run(container: "iCloud.com.example.notes") { server in
            try await body { try server.open("notes", file: "\($0).sqlite") }
        }
    }

    @Test("What is typed in one shows up in the other, in both directions")
    func sideBySide() async throws {
        try await withServer { open in
            let (phone, laptop) = (try open("phone"), try open("laptop"))
            try phone.type("add Shopping")
            #expect(await laptop.wait(forEnd: " Shopping") != nil)
            try laptop.type("write Shopping milk and bread")
            #expect(await phone.wait(forEnd: " Shopping: milk and bread") != nil)
            try phone.type("delete Shopping")
            #expect(await laptop.wait(forEnd: "· a note was deleted on another device") != nil)
            for terminal in [phone, laptop] { try terminal.type("quit") }
        }
    }

    @Test("What both did offline is on both when they are online, and what lost can be listed")
    func offline() async throws {
        try await withServer { open in
            let (phone, laptop) = (try open("phone"), try open("laptop"))
            try phone.type("add Shopping")
            #expect(await laptop.wait(forEnd: " Shopping") != nil)
            for terminal in [phone, laptop] {
                try terminal.type("offline")
                try terminal.type("status")
                #expect(
                    await terminal.wait(forEnd: "Sync is paused, or there is no connection.") != nil
                )
            }
            try phone.type("write Shopping milk")
            #expect(await phone.wait(forEnd: " Shopping: milk") != nil)
            try phone.type("status")
            #expect(await phone.wait(forEnd: "Sync is paused, or there is no connection.") != nil)
            // Later than the phone's.
            try laptop.type("write Shopping eggs")
            try laptop.type("tag Shopping home")
            try laptop.type("list")
            #expect(await laptop.wait(forEnd: " Shopping #home: eggs") != nil)
            try phone.type("online")
            #expect(await phone.wait(forEnd: " received") != nil)
            try laptop.type("online")
            // Both sides report the lost values, whichever of them merged.
            #expect(
                await phone.wait(forEnds: [
                    " Shopping #home: eggs",
                    "lost of 'Shopping' (merged on another device): body: milk",
                ])
            )
            #expect(
                await laptop.wait(forEnd: "lost of 'Shopping' (merged here): body: milk") != nil
            )
            try laptop.type("restore")
            #expect(await phone.wait(forEnd: " Shopping #home: milk") != nil)
            for terminal in [phone, laptop] { try terminal.type("quit") }
        }
    }

    @Test("What cannot be done leads to a line after the prompt, an empty line to a prompt")
    func mistakes() async throws {
        try await withServer { open in
            let phone = try open("phone")
            try phone.type("offline")
            try phone.type("add Shopping")
            #expect(await phone.wait(forEnd: " Shopping") != nil)
            for (typed, shown) in [
                ("frobnicate", "no such command, or not all of it: 'frobnicate'; try 'help'"),
                ("write Shopping", "no such command, or not all of it: 'write'; try 'help'"),
                ("show Cooking", "no note 'Cooking'"),
                ("attach Shopping missing.pdf", "no file 'missing.pdf' that can be read"),
            ] {
                try phone.type(typed)
                #expect(await phone.next() == "> " + shown)
            }
            try phone.type("")
            try phone.type("restore")
            // The empty line is answered by another prompt alone.
            #expect(await phone.next() == "> > nothing was lost")
            try phone.type("quit")
        }
    }

    @Test("What was typed offline before the program ended is sent when it starts again")
    func restart() async throws {
        try await withServer { open in
            let phone = try open("phone")
            try phone.type("offline")
            try phone.type("add Shopping")
            try phone.type("list")
            #expect(await phone.wait(forEnd: "(1 notes)") != nil)
            await phone.kill()
            let laptop = try open("laptop")
            let again = try open("phone")
            #expect(await laptop.wait(forEnd: " Shopping") != nil)
            for terminal in [again, laptop] { try terminal.type("quit") }
        }
    }
}
#endif
