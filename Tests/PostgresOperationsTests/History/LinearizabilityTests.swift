import Testing

@Suite("The checker of histories")
struct LinearizabilityTests {
    private typealias Operation = ZoneObject.Operation
    private typealias Verdict = Linearizability<ZoneObject>.Verdict

    /// Checks calls of a zone whose register has 0 and whose set is empty: each a start, an end, and what it was.
    private func check(_ calls: [(Int, Int?, Operation)]) -> Verdict {
        Linearizability.check(
            calls.map { Call(operation: $0.2, start: $0.0, end: $0.1) },
            from: ZoneObject(register: 0)
        )
    }

    @Test("Accepts calls one after the other whose outcomes fit")
    func sequence() {
        #expect(
            check([
                (1, 2, .read(0)), (3, 4, .write(1)), (5, 6, .exchange(1, to: 2, isDone: true)),
                (7, 8, .exchange(1, to: 3, isDone: false)), (9, 10, .add(5, isDone: true)),
                (11, 12, .add(5, isDone: false)), (13, 14, .list(register: 2, names: 1 << 5)),
                (15, 16, .remove(5, isDone: true)), (17, 18, .remove(5, isDone: false)),
                (19, 20, .find(names: 0)),
            ]) == .isLinearizable
        )
    }

    @Test("Accepts either order of calls that overlap")
    func overlap() {
        for last in [1, 2] {
            #expect(
                check([(1, 4, .write(1)), (2, 3, .write(2)), (5, 6, .read(last))])
                    == .isLinearizable
            )
        }
        // A deletion need not find anything, and then may come before or after.
        for last in [0, 2] as [UInt64] {
            #expect(
                check([
                    (1, 4, .add(1, isDone: true)), (2, 3, .remove(1, isDone: true)),
                    (5, 6, .find(names: last)),
                ]) == .isLinearizable
            )
        }
        // A read sees the later write while the earlier one still waits for its response.
        #expect(
            check([(1, 10, .write(1)), (2, 3, .read(1)), (4, 5, .read(1))]) == .isLinearizable
        )
    }

    @Test("Refuses a read of a value that was written over before it began")
    func staleRead() {
        let verdict = check([(1, 2, .write(1)), (3, 4, .write(2)), (5, 6, .read(1))])
        guard case .isNot(let reason) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(reason.contains("read(1)"))
        #expect(reason.contains("after 2 of 3 calls"))
    }

    @Test("Refuses a value that one reader saw, and a later one saw no more")
    func backAndForth() {
        let calls: [(Int, Int?, Operation)] = [
            (1, 10, .write(1)), (2, 3, .read(1)), (4, 5, .read(0)),
        ]
        #expect(check(calls) != .isLinearizable)
    }

    @Test("Refuses two exchanges of one value that both have succeeded")
    func lostUpdate() {
        let calls: [(Int, Int?, Operation)] = [
            (1, 4, .exchange(0, to: 1, isDone: true)), (2, 3, .exchange(0, to: 2, isDone: true)),
        ]
        #expect(check(calls) != .isLinearizable)
        #expect(
            check([
                (1, 4, .exchange(0, to: 1, isDone: true)),
                (2, 3, .exchange(0, to: 2, isDone: false)),
            ]) == .isLinearizable
        )
    }

    @Test("Refuses an exchange that failed and took effect, as one that was made twice")
    func doubled() {
        #expect(
            check([(1, 2, .exchange(0, to: 1, isDone: false)), (3, 4, .read(1))])
                != .isLinearizable
        )
        #expect(
            check([(1, 2, .add(1, isDone: false)), (3, 4, .find(names: 2))]) != .isLinearizable
        )
    }

    @Test("Refuses a lost addition, and one that returns")
    func lostAddition() {
        #expect(check([(1, 2, .add(1, isDone: true)), (3, 4, .find(names: 0))]) != .isLinearizable)
        let calls: [(Int, Int?, Operation)] = [
            (1, 2, .add(1, isDone: true)), (3, 4, .remove(1, isDone: true)),
            (5, 6, .list(register: 0, names: 2)),
        ]
        #expect(check(calls) != .isLinearizable)
    }

    @Test("Refuses half of a batch")
    func tornBatch() {
        let batch = Operation.exchangeAndAdd(0, to: 1, 3, isDone: true)
        for halves in [Operation.list(register: 1, names: 0), .list(register: 0, names: 8)] {
            #expect(check([(1, 5, batch), (2, 3, halves)]) != .isLinearizable)
        }
        #expect(
            check([(1, 5, batch), (2, 3, .list(register: 1, names: 8))]) == .isLinearizable
        )
        #expect(
            check([(1, nil, batch), (2, 3, .list(register: 1, names: 0))]) != .isLinearizable
        )
    }

    @Test("Lets an operation of unknown outcome take effect at any later moment, or never")
    func unknownOutcomes() {
        #expect(check([(1, nil, .write(1)), (2, 3, .read(0))]) == .isLinearizable)
        #expect(check([(1, nil, .write(1)), (2, 3, .read(1))]) == .isLinearizable)
        #expect(
            check([(1, nil, .write(1)), (2, 3, .read(0)), (4, 5, .read(1))]) == .isLinearizable
        )
        // But once only, and not before it began.
        #expect(
            check([
                (1, nil, .write(1)), (2, 3, .read(1)), (4, 5, .write(2)), (6, 7, .read(1)),
            ]) != .isLinearizable
        )
        #expect(check([(1, 2, .read(1)), (3, nil, .write(1))]) != .isLinearizable)
    }

    @Test("Decides long histories with many clients and many unknown outcomes")
    func longHistories() {
        // Each call overlaps with three others, and each fifth outcome is unknown.
        var calls: [(Int, Int?, Operation)] = []
        for number in 1...60 {
            let isUnknown = number.isMultiple(of: 5)
            calls.append((number * 10, isUnknown ? nil : number * 10 + 35, .write(number)))
        }
        #expect(check(calls) == .isLinearizable)
        calls.append((9000, 9001, .read(58)))
        #expect(check(calls) == .isLinearizable)
        // The second value was written over by many calls.
        calls.append((9002, 9003, .read(2)))
        guard case .isNot = check(calls) else {
            Issue.record("The last read is possible, or the search was given up")
            return
        }
    }
}
