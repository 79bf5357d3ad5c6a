import CloudKitTesting
import Support

/// A schedule created from a seed: devices with wrong clocks and versions of the app, and steps.
struct SimulationPlan: Sendable {
    struct Device: Sendable {
        /// The initial offset of the clock, in milliseconds.
        var skew: Int64
        var isNew: Bool
        /// The maximum number of records in a batch.
        var batchLimit: Int
        /// The number of its user: the owner of the shared rows, or the other one.
        var user = 0
        /// The maximum number of changes in a page; nil for the server's maximum.
        var pageLimit: Int?
    }

    var seed: UInt64
    var variant: SimulationVariant
    var devices: [Device]
    var steps: [SimulationStep]

    static let day: Int64 = 86_400_000

    /// Creates the schedule of a seed.
    init(seed: UInt64, variant: SimulationVariant = .plain, stepCount: Int? = nil) {
        let stepCount = stepCount ?? variant.stepCount
        self.seed = seed
        self.variant = variant
        var chance = SeededRandom(seed: seed)
        devices = (0..<[2, 2, 2, 3, 3, 4, 5].randomElement(using: &chance)!).map { _ in
            Device(
                skew: chance.chance(10)
                    ? Self.day * 365 * (chance.chance(50) ? 1 : -1)
                    : .random(in: -Self.day...Self.day, using: &chance),
                isNew: chance.chance(50),
                batchLimit: [1, 2, 5, 5, 200].randomElement(using: &chance)!
            )
        }
        steps = []
        // Each of the rarer events occurs in one of eight schedules.
        let losesZone = chance.chance(12)
        let hasVisitors = chance.chance(12)
        guard variant == .plain else {
            addVariant(stepCount, &chance)
            return
        }
        for _ in 0..<stepCount {
            let device = chance.number(0...devices.count - 1)
            let action = Self.action(
                device,
                devices.count,
                losesZone: losesZone,
                hasVisitors: hasVisitors,
                &chance
            )
            steps.append(SimulationStep(device: device, action: action, seed: chance.next()))
        }
    }

    /// Creates a schedule of given steps, for devices without special settings.
    ///
    /// In schedules of permissions all devices but the first are the other user's.
    init(
        _ variant: SimulationVariant = .plain,
        deviceCount: Int,
        _ steps: [(device: Int, action: SimulationStep.Action)]
    ) {
        seed = 0
        self.variant = variant
        devices = (0..<deviceCount).map { number in
            let isOther = variant.isShared && number > 0
            return Device(skew: 0, isNew: true, batchLimit: 200, user: isOther ? 1 : 0)
        }
        self.steps = steps.enumerated().map { place, step in
            SimulationStep(device: step.device, action: step.action, seed: UInt64(place))
        }
    }

    private static func action(
        _ device: Int,
        _ count: Int,
        losesZone: Bool,
        hasVisitors: Bool,
        _ chance: inout SeededRandom
    ) -> SimulationStep.Action {
        switch chance.number(0...99) {
        case 0..<52: return .edit(SimulationStep.Edit.random(&chance))
        case 52..<64: return .sync(faults: [])
        case 64..<76:
            return .sync(faults: (0..<chance.number(1...3)).map { _ in fault(&chance) })
        case 76..<83:
            let editor = chance.chance(30) ? device : chance.number(0...count - 1)
            return .race(beforeRequest: chance.number(0...5), editor: editor)
        case 83..<92: return .crash(crash(&chance))
        case 92: return .relaunch
        case 93, 94: return .upgrade
        case 95: return .setClock(milliseconds: .random(in: -day...day, using: &chance))
        case 96 where hasVisitors, 97 where hasVisitors: return .visit
        case 98 where losesZone: return .loseZone
        case 96...98: return .restore
        default: return .edit(.remakeNote)
        }
    }

    static func crash(_ chance: inout SeededRandom) -> SimulationStep.Crash {
        switch chance.number(0...3) {
        case 0: .beforeRequest(chance.number(0...7))
        case 1: .afterRequest(chance.number(0...7))
        case 2: .afterCommit(chance.number(1...20))
        default: .withoutCommit(chance.number(1...20))
        }
    }

    /// Returns a fault of any kind in a plan of faults, except slow responses: time does not pass
    /// within a step, so no response would be late.
    static func fault(_ chance: inout SeededRandom) -> FaultRule {
        let operations = [
            "records/modify", "records/modify", "records/lookup", "changes/zone",
            "changes/database", "zones/modify", "users/*",
        ]
        let operation = operations.randomElement(using: &chance)
        let call = chance.number(1...3)
        switch chance.number(0...10) {
        case 0, 1:
            let codes: [ServerErrorCode] = [
                .throttled, .tryAgainLater, .internalError, .zoneBusy, .quotaExceeded,
                .badRequest, .accessDenied, .authenticationRequired,
            ]
            return FaultRule(
                .error(codes.randomElement(using: &chance)!, retryAfter: 1),
                operation: operation,
                call: call
            )
        case 2, 3:
            let codes: [ServerErrorCode] = [
                .throttled, .tryAgainLater, .internalError, .zoneBusy, .quotaExceeded,
                .accessDenied, .validatingReferenceError, .uniqueFieldError, .badRequest,
                .atomicError,
            ]
            return FaultRule(
                .itemError(codes.randomElement(using: &chance)!, item: chance.number(0...4)),
                operation: "records/modify",
                call: call
            )
        case 4: return FaultRule(.lostResponse, operation: "records/modify", call: call)
        case 5: return FaultRule(.lostResponse, operation: operation, call: call)
        case 6: return FaultRule(.resetConnection, operation: operation, call: call)
        case 7:
            return chance.chance(50)
                ? FaultRule(.cutResponse(bytes: 20), operation: operation, call: call)
                : FaultRule(.resetConnection, operation: "assets/*")
        case 8: return FaultRule(.expiredChangeTokens, operation: "changes/zone", call: 1)
        case 9:
            return chance.chance(60)
                ? FaultRule(.staleTags, operation: "records/modify", call: call)
                : FaultRule(.expiredWebToken, operation: operation, call: call)
        default:
            return FaultRule(
                .throttle(ThrottleProfile(burst: Double(chance.number(3...9)), perSecond: 1))
            )
        }
    }
}

extension SimulationStep.Edit {
    /// Returns a random edit; insertions are more frequent than deletions.
    static func random(_ chance: inout SeededRandom) -> Self {
        switch chance.number(0...99) {
        case 0..<16: .insertNote
        case 16..<21: .insertFolder
        case 21..<26: .insertMark
        case 26..<30: .insertItem
        case 30..<33: .insertTask
        case 33..<45: .title
        case 45..<52: .count
        case 52..<56: .move
        case 56..<58: .clearFolder
        case 58..<61: .deleteNote
        case 61..<63: .deleteFolder
        default: plain.randomElement(using: &chance) ?? .title
        }
    }
}
