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
            try await run(target, input, in: world)
        }
    }

    @Test("No change to the corpus makes the service fail", arguments: FuzzTarget.allCases)
    func mutations(target: FuzzTarget) async throws {
        let corpus = try target.corpus()
        let world = try await FuzzWorld()
        var mutator = Mutator(seed: 2026)
        for _ in 0..<400 {
            let input = mutator.mutation(of: corpus)
            try await run(target, input, in: world)
        }
    }

    private func run(_ target: FuzzTarget, _ input: Data, in world: FuzzWorld) async throws {
        do {
            try await world.run(target, input)
        } catch let problem as FuzzWorld.Problem {
            Issue.record("\(problem): \(input.base64EncodedString())")
        }
    }
}
