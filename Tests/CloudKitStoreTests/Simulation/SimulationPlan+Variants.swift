import CloudKitTesting
import Support

extension SimulationPlan {
    /// Adds the steps of a variant, and changes its devices if necessary.
    mutating func addVariant(_ stepCount: Int, _ chance: inout SeededRandom) {
        if !variant.hasUpgrade {
            for place in devices.indices { devices[place].isNew = true }
        }
        if variant == .meetings { return addMeetings(&chance) }
        if variant.isShared { divide(&chance) }
        for _ in 0..<stepCount {
            var device = chance.number(0...devices.count - 1)
            let action = action(device, &chance)
            if case .share(let sharing, _) = action {
                let user = sharing.isOwners ? 0 : 1
                let candidates = devices.indices.filter { devices[$0].user == user }
                device = candidates.randomElement(using: &chance) ?? device
            }
            steps.append(SimulationStep(device: device, action: action, seed: chance.next()))
        }
    }

    /// Assigns one or two devices to each of two users.
    private mutating func divide(_ chance: inout SeededRandom) {
        let users =
            [[0, 1], [0, 0, 1], [0, 1, 1], [0, 0, 1, 1]].randomElement(using: &chance) ?? []
        let models = devices
        devices = users.enumerated().map { place, user in
            var device = models[place % models.count]
            device.user = user
            return device
        }
    }

    private func action(_ device: Int, _ chance: inout SeededRandom) -> SimulationStep.Action {
        switch chance.number(0...99) {
        case 0..<46: return .edit(.random(variant, &chance))
        case 46..<60: return .sync(faults: [])
        case 60..<68:
            return .sync(
                faults: (0..<chance.number(1...3)).map { _ in variantFault(&chance) }
            )
        case 68..<76:
            let editor = chance.chance(30) ? device : chance.number(0...devices.count - 1)
            return .race(beforeRequest: chance.number(0...5), editor: editor)
        case 76..<84: return .crash(variantCrash(&chance))
        case 84: return .relaunch
        case 85: return .setClock(milliseconds: .random(in: -Self.day...Self.day, using: &chance))
        case 86 where variant == .assets: return .upgrade
        case 86, 87: return variant.isShared ? .relaunch : .restore
        default: return special(&chance)
        }
    }

    /// Returns an action that is specific to a variant.
    private func special(_ chance: inout SeededRandom) -> SimulationStep.Action {
        switch variant {
        case .plain, .meetings, .unique: return .edit(.insertLabel)
        case .assets: return .crash(variantCrash(&chance))
        case .permissions, .everything, .families:
            let sharing: [SimulationStep.Sharing] = [
                .readOnly, .readOnly, .readOnly, .readWrite, .readWrite, .readWrite, .remove,
                .unshare, .accept, .accept, .accept, .leave,
            ]
            return .share(
                sharing.randomElement(using: &chance) ?? .accept,
                crash: chance.chance(15) ? Self.crash(&chance) : nil
            )
        }
    }

    private func variantCrash(_ chance: inout SeededRandom) -> SimulationStep.Crash {
        guard variant == .assets, chance.chance(80) else { return Self.crash(&chance) }
        let number = [0, 0, 0, 1, 1, 2].randomElement(using: &chance) ?? 0
        return switch chance.number(0...3) {
        case 0: .beforeUpload(number)
        case 1: .afterUpload(number)
        case 2: .beforeDownload(number)
        default: .afterDownload(number)
        }
    }

    private func variantFault(_ chance: inout SeededRandom) -> FaultRule {
        guard variant == .assets, chance.chance(50) else { return Self.fault(&chance) }
        let operation = ["assets/send", "assets/fetch"].randomElement(using: &chance)
        let call = chance.number(1...2)
        return switch chance.number(0...2) {
        case 0: FaultRule(.lostResponse, operation: operation, call: call)
        case 1: FaultRule(.cutResponse(bytes: 2), operation: operation, call: call)
        default: FaultRule(.resetConnection, operation: operation, call: call)
        }
    }
}
