import Foundation
import FuzzTargets
import Synchronization

// The function that libFuzzer calls for each input. `FUZZ_TARGET` selects the part of the server; the
// world is renewed now and then, so that it does not grow endlessly.

/// The world of the run and the number of inputs that it received.
private let world = Mutex<(FuzzWorld, Int)?>(nil)
private let worldLife = 500

private func currentWorld() async throws -> FuzzWorld {
    let kept = world.withLock { state -> FuzzWorld? in
        guard let (world, count) = state, count < worldLife else { return nil }
        state = (world, count + 1)
        return world
    }
    if let kept { return kept }
    let fresh = try await FuzzWorld()
    world.withLock { $0 = (fresh, 1) }
    return fresh
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        fatalError("FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue))")
    }
    let input = Data(bytes: start, count: count)
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        do {
            try await currentWorld().run(target, input)
        } catch {
            fatalError("\(target.rawValue): \(error)")
        }
        done.signal()
    }
    done.wait()
    return 0
}
