import Testing

@Suite("Guides do what they say")
struct GuideTests {
    @Test("Each member of a family sees what the guide to sharing says")
    func sharing() async throws {
        try await snippet1Insharing()
    }
}
