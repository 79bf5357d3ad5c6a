#if canImport(CloudKitTesting)
import ExampleSupport
import Testing

@Suite("Two terminals", .timeLimit(.minutes(5)))
struct TerminalTests {
    @Test("What is typed in one shows up in the other, in both directions")
    func sideBySide() async throws {
        try await ExampleServer.run(container: "iCloud.com.example.contacts") { server in
            let phone = try server.open("contacts", file: "phone.json")
            let laptop = try server.open("contacts", file: "laptop.json")
            try phone.type("add Ann 555-0100")
            #expect(await laptop.wait(for: "· Ann 555-0100"))
            try laptop.type("phone Ann 555-0199")
            #expect(await phone.wait(for: "· Ann 555-0199"))
            try phone.type("delete Ann")
            #expect(await laptop.wait(for: "· Ann was deleted on another device"))
            for terminal in [phone, laptop] { try terminal.type("quit") }
        }
    }
}
#endif
