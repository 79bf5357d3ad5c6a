package import CloudKitWire
import Synchronization

/// An error that is thrown from a shared commit that is too long for the others to wait for.
struct NeedsOwnTurn: Error {}

/// An error that is thrown from a read or a commit, which runs again when there is memory for its
/// response.
struct ResponseMemoryShortage: Error {
    /// The number of bytes that the response needs as far as it was built.
    let bytes: Int
}

/// Counts the work of a request so far, and ends it beyond its budget.
final class RequestWork: Sendable {
    private struct State {
        var rows = 0
        /// The number of index entries that queries visited.
        var entries = 0
        /// The time at which the current read or commit must end.
        var deadline = Int64.max
        /// The number of rows beyond which the current commit must run apart from others.
        var sharedLimit = Int.max
        var nextLook = 0
        /// The bytes of records in the response.
        var responseBytes = 0
        /// The bytes that the response may have before more memory must be reserved.
        var reservedBytes = RequestWork.unreservedBytes
        /// The records that were found damaged.
        var damage: Set<String> = []
    }

    private static let nameBytes = 4 * Limits.nameLength
    /// The number of rows after which the clock is read.
    private static let interval = 64
    /// The size of a response that needs no reservation, because most have it and are sent at once.
    private static let unreservedBytes = 64 * 1024

    let budget: RequestBudget
    private let clock: any ServiceClock
    /// The memory of the response; nil for no limit.
    private let memory: (any ResponseMemory)?
    private let state = Mutex(State())

    init(
        _ budget: RequestBudget,
        _ clock: any ServiceClock,
        memory: (any ResponseMemory)? = nil
    ) {
        self.budget = budget
        self.clock = clock
        self.memory = memory
    }

    /// The counts to which a read or a commit that runs again is reset.
    struct Mark {
        fileprivate var rows: Int
        fileprivate var responseBytes: Int
    }

    /// The counts so far.
    var mark: Mark { state.withLock { Mark(rows: $0.rows, responseBytes: $0.responseBytes) } }

    /// Begins a read or a commit, which may run again from its mark.
    ///
    /// - Parameters:
    ///   - mark: The counts before it.
    ///   - isShared: `true` for a commit together with others, who wait for it.
    func begin(at mark: Mark, besideOthers isShared: Bool = false) {
        let deadline = clock.milliseconds + budget.milliseconds
        state.withLock { state in
            state.rows = mark.rows
            state.responseBytes = mark.responseBytes
            state.nextLook = mark.rows
            state.deadline = deadline
            state.sharedLimit = isShared ? mark.rows + budget.rowsBesideOthers : .max
        }
    }

    /// Counts rows.
    ///
    /// - Throws: `RequestError` when there were too many, or when it took too long; `NeedsOwnTurn`.
    func spend(_ rows: Int) throws {
        let (total, limit, looks, deadline) = state.withLock { state in
            state.rows += rows
            let looks = state.rows >= state.nextLook
            if looks { state.nextLook = state.rows + Self.interval }
            return (state.rows, state.sharedLimit, looks, state.deadline)
        }
        try check(total, limit)
        guard looks, clock.milliseconds > deadline else { return }
        throw RequestError(
            .tryAgainLater,
            reason:
                "The request took more than \(budget.milliseconds) milliseconds, and was ended; "
                + "split it, or narrow it down",
            retryAfter: 30
        )
    }

    /// Reserves memory for a record in the response.
    ///
    /// - Throws: `ResponseMemoryShortage`, with which the read or the commit ends.
    func reserve(_ record: StoredRecord) throws(ResponseMemoryShortage) {
        guard let memory else { return }
        // Twice the bytes: a body that is built is copied once, into the buffer that is sent.
        let needed = state.withLock { state -> Int? in
            state.responseBytes += record.fields.count
            return state.responseBytes > state.reservedBytes ? 2 * state.responseBytes : nil
        }
        guard let needed else { return }
        guard memory.reserve(needed) else { throw ResponseMemoryShortage(bytes: needed) }
        state.withLock { $0.reservedBytes = needed }
    }

    /// Waits for memory that a response lacked.
    ///
    /// - Throws: `RequestError` with `TRY_AGAIN_LATER` when there is none in time.
    func wait(out shortage: ResponseMemoryShortage) async throws {
        guard await memory?.waitToReserve(shortage.bytes) != false else {
            throw RequestError.noMemoryForResponse
        }
        state.withLock { $0.reservedBytes = shortage.bytes }
    }

    /// Returns whether a deletion of a number of rows may begin without a closer look.
    func hasRoom(deleting rows: Int) -> Bool {
        guard rows <= budget.rowsPerDeletion else { return false }
        let (done, limit) = state.withLock { ($0.rows, $0.sharedLimit) }
        return rows <= min(budget.rows, limit) - done
    }

    /// Refuses a deletion that will be too large, before it begins.
    ///
    /// - Parameter rows: The rows and index entries that it also deletes.
    /// - Throws: `RequestError`, or `NeedsOwnTurn`.
    func foresee(deleting rows: Int) throws {
        guard rows <= budget.rowsPerDeletion else {
            throw RequestError(
                .badRequest,
                reason: "A deletion would take more than \(budget.rowsPerDeletion) rows and index "
                    + "entries along; delete the records that refer to its record first, a part at a time",
                nativeErrorCode: .limitExceeded
            )
        }
        let (done, limit) = state.withLock { ($0.rows, $0.sharedLimit) }
        try check(done + rows, limit)
    }

    private func check(_ total: Int, _ sharedLimit: Int) throws {
        guard total <= budget.rows else {
            throw RequestError(
                .badRequest,
                reason: "The request needs more than \(budget.rows) rows to be read and written; "
                    + "split it, or narrow it down",
                nativeErrorCode: .limitExceeded
            )
        }
        guard total <= sharedLimit else { throw NeedsOwnTurn() }
    }

    /// Counts an index entry that a query is about to visit; returns whether a page that can end
    /// early must end.
    ///
    /// - Throws: `RequestError` when it may not be visited even if the page cannot end early.
    func look() throws(RequestError) -> Bool {
        let entries = state.withLock { state in
            state.entries += 1
            return state.entries
        }
        guard entries <= budget.entriesPerSort else {
            throw RequestError(
                .badRequest,
                reason: "The query has to look at more than \(budget.entriesPerSort) records to "
                    + "sort them; narrow it down with a filter, or sort by fewer fields",
                nativeErrorCode: .limitExceeded
            )
        }
        return entries > budget.entriesPerPage
    }

    /// Refuses a name that is so long that looking it up would take long, before it is used; a name
    /// that merely exceeds the limit fails its record alone.
    func check(name: String?) throws(RequestError) {
        guard let count = name?.utf8.count, count > Self.nameBytes else { return }
        throw RequestError(
            .badRequest,
            reason:
                "A name in the request has \(count) characters; at most \(Limits.nameLength) are "
                + "allowed",
            nativeErrorCode: .limitExceeded
        )
    }

    /// Refuses names if looking one of them up would take long.
    func check(names: some Sequence<String?>) throws(RequestError) {
        for name in names { try check(name: name) }
    }

    /// Records a damaged record, for the operator.
    func noteDamage(of record: StoredRecord) {
        let text = "record \(record.id.rawValue) of zone \(record.zone.rawValue)"
        state.withLock { _ = $0.damage.insert(text) }
    }

    /// A description of the damaged records for operators; nil if none was found.
    var damage: String? {
        let records = state.withLock { $0.damage }.sorted()
        if records.isEmpty { return nil }
        return "corrupt: damaged rows: \(records.prefix(10).joined(separator: ", ")) "
            + "(\(records.count) in all); restore from a backup, or replace or delete them"
    }

    /// Refuses a list that is too long.
    func check(_ count: Int?, _ limit: Int, _ what: String) throws(RequestError) {
        guard let count, count > limit else { return }
        throw RequestError(
            .badRequest,
            reason: "The request has \(count) \(what); at most \(limit) are allowed",
            nativeErrorCode: .limitExceeded
        )
    }
}

extension RequestError {
    /// The error of a request whose response finds no memory.
    package static var noMemoryForResponse: Self {
        RequestError(
            .tryAgainLater,
            reason: "The server has no memory for more responses just now; nothing was changed",
            retryAfter: 2
        )
    }

    /// `true` when the whole request ends and is undone: its budget or its time is used up.
    var endsRequest: Bool {
        nativeErrorCode == NativeErrorCode.limitExceeded.rawValue
            || serverErrorCode == .tryAgainLater
    }
}
