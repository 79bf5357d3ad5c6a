import Foundation
import FuzzTargets
import Testing

@Suite("Bytes from outside")
struct FuzzTests {
    @Test("No input of the corpus makes the service fail", arguments: FuzzTarget.allCases)
    func corpus(target: FuzzTarget) async throws {
        let corpus = try target.corpus()
        #expect(corpus.count >= 5)
        let world = try await FuzzWorld()
        for input in corpus {
            await #expect(throws: Never.self, "\(String(decoding: input, as: UTF8.self))") {
                try await world.run(target, input)
            }
        }
    }

    @Test("No change to the corpus makes the service fail", arguments: FuzzTarget.allCases)
    func mutations(target: FuzzTarget) async throws {
        let corpus = try target.corpus()
        let world = try await FuzzWorld()
        var mutator = Mutator(seed: 2026)
        for _ in 0..<400 {
            let input = mutator.mutation(of: corpus)
            await #expect(throws: Never.self, "\(input.base64EncodedString())") {
                try await world.run(target, input)
            }
        }
    }
}
