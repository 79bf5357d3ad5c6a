import CloudKitWire

/// What became of one operation.
enum RecordOutcome: Sendable {
    /// The record as it is stored now.
    case saved(StoredRecord)
    /// The record is stored, and the caller may not read it: the answer has what the request had.
    case savedUnseen(StoredRecord)
    /// The record is gone; its type is known unless it never existed.
    case deleted(name: String, type: String?)
    /// Nothing was changed.
    case failed(name: String, RecordFailure)

    var isFailure: Bool {
        if case .failed = self { true } else { false }
    }
}

/// Thrown out of a commit to undo an atomic batch, with what to answer.
struct AtomicBatchFailed: Error {
    let outcomes: [RecordOutcome]

    /// What the first operation failed by that did not fail because of another.
    var cause: RecordFailure {
        let failures = outcomes.compactMap { outcome in
            if case .failed(_, let failure) = outcome { failure } else { nil }
        }
        return failures.first { $0.code != .atomicError }
            ?? RecordFailure(.atomicError, "The batch failed as a whole")
    }

    /// Keeps the codes of the operations that failed by themselves and gives the others
    /// `ATOMIC_ERROR`.
    init(_ outcomes: [RecordOutcome], names: [String]) {
        self.outcomes = zip(outcomes, names).map { outcome, name in
            outcome.isFailure
                ? outcome
                : .failed(
                    name: name,
                    RecordFailure(
                        .atomicError,
                        "Record '\(name)' was not changed: another operation of the atomic request "
                            + "failed"
                    )
                )
        }
    }
}
