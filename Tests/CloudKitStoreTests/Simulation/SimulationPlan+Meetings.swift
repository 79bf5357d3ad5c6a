import Support

extension SimulationPlan {
    /// The edits that conflict: each of a field with another rule, and some that need a merge base.
    private static let meeting: [SimulationStep.Edit] = [
        .title, .title, .body, .low, .high, .server, .client, .custom, .count, .addTag, .carry,
    ]

    /// The edits that pick a row like a deletion does.
    private static let alike: Set<SimulationStep.Edit> = [.title, .body, .server, .client, .custom]

    /// Adds steps in which two devices edit one row, or one of them deletes it, before either
    /// receives the other's change; some have wrong clocks.
    mutating func addMeetings(_ chance: inout SeededRandom) {
        for _ in 0..<chance.number(3...5) {
            add(.edit(chance.chance(75) ? .insertNote : .insertFolder), 0, &chance)
        }
        for device in devices.indices { add(.sync(faults: []), device, &chance) }
        for _ in 0..<5 {
            let first = chance.number(0...devices.count - 1)
            let second = (first + chance.number(1...devices.count - 1)) % devices.count
            meet(first, second, &chance)
            if chance.chance(40) {
                add(.edit(.random(&chance)), chance.number(0...devices.count - 1), &chance)
            }
        }
    }

    private mutating func meet(_ first: Int, _ second: Int, _ chance: inout SeededRandom) {
        // Both show the same rows, so that one seed picks the same one.
        for device in [first, second, first] { add(.sync(faults: []), device, &chance) }
        if chance.chance(30) {
            let milliseconds = Int64.random(in: -Self.day...Self.day, using: &chance)
            add(.setClock(milliseconds: milliseconds), first, &chance)
            // The device's next save reveals its clock.
            if chance.chance(50) {
                add(.edit(.insertNote), first, &chance)
                for device in [first, second] { add(.sync(faults: []), device, &chance) }
            }
        }
        let edit = Self.meeting.randomElement(using: &chance) ?? .title
        let deletes = Self.alike.contains(edit) && chance.chance(30)
        let seed = chance.next()
        for (device, edit) in [(first, edit), (second, deletes ? .deleteNote : edit)] {
            steps.append(SimulationStep(device: device, action: .edit(edit), seed: seed))
        }
        let order = chance.chance(50) ? [first, second] : [second, first]
        for device in order {
            let isCut = chance.chance(10)
            add(isCut ? .crash(Self.crash(&chance)) : .sync(faults: []), device, &chance)
        }
        add(.sync(faults: []), order[0], &chance)
    }

    private mutating func add(
        _ action: SimulationStep.Action,
        _ device: Int,
        _ chance: inout SeededRandom
    ) {
        steps.append(SimulationStep(device: device, action: action, seed: chance.next()))
    }
}
