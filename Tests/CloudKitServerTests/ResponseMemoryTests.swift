import CloudKitServer
import NIOCore
import NIOEmbedded
import Testing

@Suite("The memory of responses", .timeLimit(.minutes(10)))
struct ResponseMemoryTests {
    private let connections = Connections(
        .init(all: 10, perAddress: 10, countsLoopback: true, responseBytes: 100)
    )

    @Test("A response that finds no memory gets it when another is given up")
    func waits() async throws {
        var first: Connections.Memory? = connections.memory()
        let second = connections.memory()
        #expect(first?.reserve(80) == true)
        try #require(!second.reserve(30))
        #expect(second.reserve(20))
        // What it has is no reason to wait for itself.
        #expect(connections.responseBytes == 100)
        async let isReserved = second.waitToReserve(90)
        while connections.responseBytes > 80 { await Task.yield() }
        first = nil
        #expect(await isReserved)
        #expect(connections.responseBytes == 90)
    }

    @Test("A response larger than the memory is built while others take at most half of it")
    func large() {
        let (first, second, third) = (
            connections.memory(), connections.memory(), connections.memory()
        )
        #expect(first.reserve(51))
        #expect(!second.reserve(1000))
        #expect(first.reserve(50))
        #expect(second.reserve(1000))
        #expect(!third.reserve(1))
    }

    @Test("A response that is held takes the place of what was reserved for it")
    func held() throws {
        let channel = EmbeddedChannel(
            handler: ConnectionGuard(connections, .init(request: .seconds(60)), longestBody: 1000)
        )
        try channel.connect(to: .init(ipAddress: "192.0.2.1", port: 80)).wait()
        let memory = connections.memory()
        #expect(memory.reserve(80))
        connections.hold(30, memory, for: channel)
        #expect(connections.responseBytes == 30)
        _ = try? channel.finish(acceptAlreadyClosed: true)
        #expect(connections.responseBytes == 0)
    }
}
