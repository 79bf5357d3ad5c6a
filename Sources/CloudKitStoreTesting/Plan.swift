import CloudKitTesting

/// A schedule: who does what in which order.
struct Plan: Sendable {
    /// One step.
    ///
    /// It makes its choices with a seed of its own, so that it stays as it is when others are removed.
    struct Step: Sendable {
        var device: Int
        var action: Action
        var seed: UInt64
    }

    enum Action: Hashable, Sendable {
        /// A transaction of edits, each chosen with a seed of its own.
        case edit([UInt64])
        case sync
        case fault(Fault, call: Int)
        case crash(Crash)
        case relaunch
        case upgrade
    }

    /// The point of a sync at which a process ends.
    enum Crash: Hashable, Sendable {
        /// Before a request leaves.
        case before(request: Int)
        /// After the cloud has carried a request out, and before its response is read.
        case after(request: Int)
    }

    struct Device: Sendable {
        var isEarlier: Bool
        /// The milliseconds by which the device's clock is ahead of the cloud's.
        var skew: Int64
    }

    let seed: UInt64
    var devices: [Device]
    var steps: [Step]

    init(seed: UInt64, _ simulation: StoreSimulation) {
        self.seed = seed
        var random = StoreSimulation.Randomness(seed: seed)
        let canUpgrade = simulation.earlier != nil
        devices = (0..<max(1, simulation.devices)).map { _ in
            Device(
                isEarlier: canUpgrade && random.chance(50),
                skew: random.chance(20) ? Int64(random.number(-90_000..<90_000)) : 0
            )
        }
        steps = (0..<simulation.steps).map { _ in
            Step(
                device: random.number(0..<max(1, simulation.devices)),
                action: Self.action(canUpgrade, &random),
                seed: random.next()
            )
        }
    }

    private static func action(
        _ canUpgrade: Bool,
        _ random: inout StoreSimulation.Randomness
    ) -> Action {
        switch random.number(0..<100) {
        case ..<50: .edit((0..<random.number(1..<6)).map { _ in random.next() })
        case ..<76: .sync
        case ..<86: .fault(random.one(of: faults), call: random.number(1..<4))
        case ..<94:
            .crash(
                random.chance(50)
                    ? .before(request: random.number(1..<5))
                    : .after(request: random.number(1..<5))
            )
        case ..<97: .relaunch
        default: canUpgrade ? .upgrade : .sync
        }
    }

    private static let faults: [Fault] = [
        .lostResponse, .resetConnection, .cutResponse(bytes: 20), .expiredChangeTokens,
        .error(.zoneBusy, retryAfter: 1), .error(.internalError),
        .itemError(.tryAgainLater, item: 0),
    ]
}
