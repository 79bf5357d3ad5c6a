import Testing

@Suite("Guides do what they say")
struct GuideTests {
    @Test("Each member of a family sees what the guide to sharing says")
    func sharing() async throws {
        try await snippet1Insharing()
    }

    @Test("A server in a test serves each user's devices, and stops with the test")
    func serverInTest() async throws {
        try await snippet4Intesting()
    }
}
