import CloudKit
import Testing

/// The machine's transitions: every state and every signal.
@Suite("The states of a sync engine")
struct TransitionTests {
    private static let recordID = CKRecord.ID(
        recordName: "a",
        zoneID: CKRecordZone.ID(zoneName: "Notes")
    )
    private static let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(recordID)
    private static let zone = CKSyncEngine.PendingDatabaseChange.saveZone(
        CKRecordZone(zoneID: recordID.zoneID)
    )
    private static let batch = CKSyncEngine.RecordZoneChangeBatch(
        recordsToSave: [CKRecord(recordType: "Note", recordID: recordID)]
    )

    /// The letters of states, each with the signals that lead to it and whether the engine is
    /// automatic.
    private static let states: [(letter: Character, name: String, Bool, [SyncEngineSignal])] = {
        let idle: [SyncEngineSignal] = [.start, .response(.user("_ada")), .delivered, .delivered]
        let fetch = idle + [.call(SyncEngineCall(id: 1, kind: .fetch(.init())))]
        let send = idle + [.call(SyncEngineCall(id: 1, kind: .send(.init())))]
        return [
            ("C", "created", false, []),
            ("I", "idle", false, idle),
            ("U", "identifying", false, [.start]),
            ("V", "identifying again", false, [.start, .notice(.accountChanged)]),
            ("S", "subscribing", true, idle),
            ("D", "delivering", false, Array(idle.prefix(2))),
            ("E", "delivering in a fetch", false, fetch),
            ("F", "delivering in a send", false, send),
            ("G", "consulting in a fetch", false, fetch + [.delivered]),
            ("H", "consulting in a send", false, send + [.delivered]),
            ("P", "requesting in a fetch", false, fetch + [.delivered, .options(.init())]),
            ("Q", "requesting in a send", false, send + [.delivered, .batch(batch)]),
            ("X", "stopped", false, [.start, .stop]),
        ]
    }()

    private static let signals: [String: SyncEngineSignal] = [
        "start": .start,
        "stop": .stop,
        "wake": .wake,
        "databaseChanged": .notice(.databaseChanged),
        "accountChanged": .notice(.accountChanged),
        "delivered": .delivered,
        "batch": .batch(batch),
        "noBatch": .batch(nil),
        "options": .options(.init()),
        "response": .response(.failure(CKError(.networkFailure))),
        "call": .call(SyncEngineCall(id: 2, kind: .fetch(.init()))),
        "cancel": .cancel(1),
        "cancelAll": .cancelAll(3),
        "addRecord": .addRecordChanges([change], byDelegate: true),
        "reading": .readingRecord(recordID),
        "removeRecord": .removeRecordChanges([change]),
        "addZone": .addDatabaseChanges([zone]),
        "removeZone": .removeDatabaseChanges([zone]),
        "untracked": .untrackedChanges(true),
    ]

    /// The state after each signal in each state; `!` for a signal that cannot come.
    ///
    /// The pending changes are empty before, and the engine is not automatic except in `S`.
    private static let table = """
                        C I U V S D E F G H P Q X
        start           U ! ! ! ! ! ! ! ! ! ! ! X
        stop            X X X X X X X X X X X X X
        wake            C I U V S D E F G H P Q X
        databaseChanged C I U V S D E F G H P Q X
        accountChanged  C U V V S D E F G H P Q X
        delivered       ! ! ! ! ! D G H ! ! ! ! X
        batch           ! ! ! ! ! ! ! ! ! Q ! ! X
        noBatch         ! ! ! ! ! ! ! ! ! F ! ! X
        options         ! ! ! ! ! ! ! ! P ! ! ! X
        response        ! ! I U I ! ! ! ! ! E F X
        call            C E U V S D E F G H P Q X
        cancel          C I U V S D E F G H P Q X
        cancelAll       C I U V S D E F G H P Q X
        addRecord       C D U V S D E F G H P Q X
        reading         C I U V S D E F G H P Q X
        removeRecord    C I U V S D E F G H P Q X
        addZone         C D U V S D E F G H P Q X
        removeZone      C I U V S D E F G H P Q X
        untracked       C D U V S D E F G H P Q X
        """

    private static func machine(
        _ isAutomatic: Bool,
        after signals: [SyncEngineSignal]
    ) -> SyncEngineMachine {
        var machine = SyncEngineMachine(
            state: SyncEngineState(),
            settings: .init(automaticallySync: isAutomatic)
        )
        for signal in signals { _ = machine.handle(signal, at: moment) }
        return machine
    }

    private static let moment = SyncEngineMoment(now: .zero, chance: 0.5)

    @Test("Every signal in every state leads to one state, or is reported and changes nothing")
    func transitions() throws {
        let rows = Self.table.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(rows[0].compactMap(\.first) == Self.states.map(\.letter))
        #expect(Set(rows.dropFirst().map { String($0[0]) }) == Set(Self.signals.keys))
        for row in rows.dropFirst() {
            let signal = try #require(Self.signals[String(row[0])])
            for ((letter, name, isAutomatic, path), cell) in zip(Self.states, row.dropFirst()) {
                var machine = Self.machine(isAutomatic, after: path)
                #expect(machine.description == name)
                let actions = machine.handle(signal, at: Self.moment)
                let mistakes = actions.compactMap { action in
                    if case .reportMistake(let message) = action { message } else { nil }
                }
                let place = "\(row[0]) in \(letter)"
                guard cell != "!" else {
                    #expect(mistakes.count == 1 && actions.count == 1, "\(place)")
                    #expect(mistakes.first?.hasSuffix("while the engine was \(name)") == true)
                    #expect(machine.description == name, "\(place)")
                    continue
                }
                let expected = Self.states.first { String($0.letter) == cell }
                #expect(machine.description == expected?.name, "\(place)")
                #expect(mistakes == [], "\(place)")
            }
        }
    }

    @Test("At most one event, question or request is in flight, and a state in flight has one")
    func oneAtATime() {
        for (_, name, isAutomatic, path) in Self.states {
            for (title, signal) in Self.signals {
                var machine = Self.machine(isAutomatic, after: path)
                var inFlight = Self.isInFlight(machine) ? 1 : 0
                switch signal {
                case .delivered, .batch, .options, .response:
                    // An outcome that cannot come ends nothing.
                    let actions = machine.handle(signal, at: Self.moment)
                    let isMistake = actions.contains {
                        if case .reportMistake = $0 { true } else { false }
                    }
                    if !isMistake { inFlight = 0 }
                    inFlight += actions.filter(Self.isMain).count
                default:
                    inFlight += machine.handle(signal, at: Self.moment).filter(Self.isMain).count
                }
                if machine.description == "stopped" { continue }
                #expect(inFlight == (Self.isInFlight(machine) ? 1 : 0), "\(title) while \(name)")
            }
        }
    }

    private static func isInFlight(_ machine: SyncEngineMachine) -> Bool {
        !["created", "idle", "stopped"].contains(machine.description)
    }

    private static func isMain(_ action: SyncEngineAction) -> Bool {
        switch action {
        case .deliver, .requestBatch, .requestOptions, .request: true
        default: false
        }
    }

    @Test("When an engine ends, every call returns, and the request in flight is cancelled")
    func stop() {
        for (_, name, isAutomatic, path) in Self.states where name != "stopped" {
            var machine = Self.machine(isAutomatic, after: path)
            // The call of the operation in progress, one that waits, and one that cancels.
            var open: Set<SyncEngineCall.ID> = name.contains(" in a ") ? [1, 4, 5] : [4, 5]
            var isCancelled = false
            let signals: [SyncEngineSignal] = [
                .cancelAll(5), .call(SyncEngineCall(id: 4, kind: .send(.init()))), .stop,
            ]
            for signal in signals {
                for action in machine.handle(signal, at: Self.moment) {
                    switch action {
                    case .finish(let id, _):
                        #expect(open.remove(id) != nil, "call \(id) returned twice while \(name)")
                    case .cancelRequest: isCancelled = true
                    default: break
                    }
                }
            }
            #expect(open == [], "\(name)")
            let isRequesting = ["identifying", "subscribing", "requesting"].contains {
                name.hasPrefix($0)
            }
            #expect(isCancelled == isRequesting, "\(name)")
            #expect(machine.description == "stopped")
        }
    }

    #if DEBUG
    @Test("A mistake of the engine itself ends a process that is built for debugging")
    func trap() async {
        await #expect(processExitsWith: .failure) {
            SyncEngineEnvironment.live.reportMistake("a batch came while the engine was idle")
        }
    }
    #endif
}
