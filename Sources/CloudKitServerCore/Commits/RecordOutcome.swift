import CloudKitWire

/// The outcome of one operation.
enum RecordOutcome: Sendable {
    /// The record was saved; this is its current version.
    case saved(StoredRecord)
    /// The record was saved, but the caller may not read it: the response repeats the request's fields.
    case savedUnseen(StoredRecord)
    /// The record was deleted; its type is known unless it never existed.
    case deleted(name: String, type: String?)
    /// Nothing was changed.
    case failed(name: String, RecordFailure)

    var isFailure: Bool {
        if case .failed = self { true } else { false }
    }
}

/// An error that is thrown from a commit to undo an atomic batch, with the outcomes to return.
struct AtomicBatchFailed: Error {
    let outcomes: [RecordOutcome]

    /// The first failure that another operation did not cause.
    var cause: RecordFailure {
        let failures = outcomes.compactMap { outcome in
            if case .failed(_, let failure) = outcome { failure } else { nil }
        }
        return failures.first { $0.code != .atomicError }
            ?? RecordFailure(.atomicError, "The batch failed as a whole")
    }

    /// Keeps the codes of operations that failed individually, and sets the others to `ATOMIC_ERROR`.
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
