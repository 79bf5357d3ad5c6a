/// One operation that fetches the database's changes, then those of the changed zones one after the
/// other.
///
/// A state machine inside the engine's, which requests the next step and reports the outcome.
struct FetchOperation {
    typealias Delivery = SyncEngineStep.Delivery

    private enum Phase: Hashable {
        case beginning
        case choosingDatabase
        case readingDatabase
        case choosingZone
        case readingZone(CKRecordZone.ID)
        case ending
        case ended
    }

    let context: CKSyncEngine.FetchChangesContext
    /// The call that waits for the end; nil for a scheduled operation.
    let call: SyncEngineCall.ID?
    /// The calls of `cancelOperations` that wait for the end.
    var cancellations: [SyncEngineCall.ID] = []

    private var phase = Phase.beginning
    /// The options that the delegate last returned.
    private(set) var options: CKSyncEngine.FetchChangesOptions
    /// The zone with a `will` event but no `did` event yet.
    private var current: CKRecordZone.ID?
    private var finished: Set<CKRecordZone.ID> = []
    private var restarted: Set<CKRecordZone.ID> = []
    private var hasRestartedDatabase = false
    /// The zones seen since the database was read from its beginning; nil if it was not.
    private var listing: Set<CKRecordZone.ID>?
    /// The error that ended the fetch early.
    private(set) var error: CKError?
    private(set) var failures = ItemFailures()
    /// The wait that the service requested, whatever the result of the request.
    private var throttling: CKError?
    /// `true` when the account may have changed, so that further results belong to no user.
    private(set) var isVoid = false

    init(
        _ context: CKSyncEngine.FetchChangesContext,
        call: SyncEngineCall.ID?
    ) {
        self.context = context
        self.call = call
        options = context.options
    }

    /// The error that is transient.
    var transientFailure: CKError? {
        failures.longestTransient(with: error, throttling)
    }

    /// Ends the fetch as soon as the request in flight allows.
    mutating func stop(_ error: CKError, isVoid: Bool = false) {
        self.isVoid = self.isVoid || isVoid
        if phase != .ended, phase != .ending { self.error = self.error ?? error }
    }

    // MARK: Steps

    mutating func next(_ state: SyncEngineState) -> SyncEngineStep {
        switch phase {
        case .beginning:
            phase = .choosingDatabase
            return .deliver([Delivery(.willFetchChanges(.init(context: context)))])
        case .choosingDatabase where error == nil, .choosingZone where hasWork(state):
            return .requestOptions(context)
        case .readingDatabase where error == nil:
            if state.databaseToken == nil { listing = [] }
            return .request(.databaseChanges(since: state.databaseToken))
        case .readingZone(let zoneID) where error == nil:
            return .request(.zoneChanges(zoneID, since: state.zoneTokens[zoneID]))
        case .ended: return .finish
        default: return end()
        }
    }

    private func hasWork(_ state: SyncEngineState) -> Bool {
        guard error == nil else { return false }
        return current != nil || state.unfetchedZones.contains { !finished.contains($0) }
    }

    private mutating func end() -> SyncEngineStep {
        phase = .ended
        return .deliver(
            closeZone(error) + [Delivery(.didFetchChanges(.init(context: context)))]
        )
    }

    /// Reports the end of the current zone's fetch.
    private mutating func closeZone(
        _ error: CKError?,
        then change: SyncEngineStep.Change? = nil
    ) -> [Delivery] {
        guard let zoneID = current else { return [] }
        current = nil
        finished.insert(zoneID)
        return [
            Delivery(
                .didFetchRecordZoneChanges(.init(zoneID: zoneID, error: error)),
                then: change
            )
        ]
    }

    // MARK: Outcomes

    /// Accepts the delegate's options, and chooses what to read.
    mutating func take(
        _ options: CKSyncEngine.FetchChangesOptions,
        _ state: SyncEngineState
    ) -> [Delivery] {
        self.options = options
        if phase == .choosingDatabase {
            phase = .readingDatabase
            return []
        }
        var deliveries: [Delivery] = []
        // The delegate may have left the zone out since its last page.
        if let current {
            if options.scope.contains(current) {
                phase = .readingZone(current)
                return []
            }
            deliveries = closeZone(nil)
        }
        guard let zoneID = nextZone(state) else {
            phase = .ending
            return deliveries
        }
        current = zoneID
        phase = .readingZone(zoneID)
        return deliveries + [Delivery(.willFetchRecordZoneChanges(.init(zoneID: zoneID)))]
    }

    private func nextZone(_ state: SyncEngineState) -> CKRecordZone.ID? {
        let waiting = state.unfetchedZones.filter {
            !finished.contains($0) && options.scope.contains($0)
        }
        return options.prioritizedZoneIDs.first(where: waiting.contains) ?? waiting.first
    }

    /// Handles the response to the last step's request.
    mutating func take(_ response: SyncResponse, _ state: SyncEngineState) -> [Delivery] {
        if case .failure(let failure) = response, failure.retryAfterSeconds != nil {
            throttling = failure
        }
        if isVoid { return [] }
        switch (phase, response) {
        case (.readingDatabase, .databaseChanges(let page)): return take(page, state)
        case (.readingDatabase, .failure(let error)): return databaseFailed(error, state)
        case (.readingZone(let zoneID), .zoneChanges(let page)):
            return take(page, of: zoneID, state)
        case (.readingZone(let zoneID), .failure(let error)): return failed(error, zoneID, state)
        default:
            error = CKError(
                .internalError,
                message: "The response does not match the request: \(response)"
            )
            return []
        }
    }

    private mutating func take(
        _ page: SyncResponse.DatabaseChangesPage,
        _ state: SyncEngineState
    ) -> [Delivery] {
        // Default zones have no change feed to fetch.
        let modified = page.modifications.filter {
            $0.zoneName != CKRecordZone.ID.defaultZoneName
        }
        var deletions = page.deletions
        // A page that does not move the token would come again without end.
        let isWhole = !page.moreComing || page.token.isEqual(state.databaseToken)
        phase = isWhole ? .choosingZone : .choosingDatabase
        if listing != nil {
            // A zone that was never known cannot have been lost to the user's settings.
            deletions.removeAll { $0.reason != .deleted && !state.knownZones.contains($0.zoneID) }
        }
        listing?.formUnion(modified)
        if isWhole, let listing {
            // A fetch from the beginning lists no deletions: known zones that are missing were
            // deleted.
            let lost = state.knownZones.subtracting(listing).subtracting(deletions.map(\.zoneID))
            deletions += lost.sorted { "\($0)" < "\($1)" }.map {
                .init(zoneID: $0, reason: .deleted)
            }
        }
        // A zone with this name may be created again and fetched by this operation.
        for deletion in deletions { finished.remove(deletion.zoneID) }
        let isEmpty = modified.isEmpty && deletions.isEmpty
        let event = CKSyncEngine.Event.FetchedDatabaseChanges(
            modifications: modified.map { .init(zoneID: $0) },
            deletions: deletions
        )
        return [
            Delivery(
                isEmpty ? nil : .fetchedDatabaseChanges(event),
                then: .database(
                    page.token,
                    modified: modified,
                    deleted: deletions.map(\.zoneID)
                )
            )
        ]
    }

    private mutating func databaseFailed(_ error: CKError, _ state: SyncEngineState) -> [Delivery] {
        // Once only, or a service that refuses every token would keep the operation going.
        guard error.isAboutToken, state.databaseToken != nil, !hasRestartedDatabase else {
            self.error = self.error ?? error
            return []
        }
        hasRestartedDatabase = true
        phase = .choosingDatabase
        return [Delivery(nil, then: .databaseRestart)]
    }

    private mutating func take(
        _ page: SyncResponse.ZoneChangesPage,
        of zoneID: CKRecordZone.ID,
        _ state: SyncEngineState
    ) -> [Delivery] {
        // The page's token would skip the record, so the page is fetched again later.
        if let failure = page.failures.values.first(where: \.passes) {
            return failed(failure, zoneID, state)
        }
        let isWhole = !page.moreComing || page.token.isEqual(state.zoneTokens[zoneID])
        phase = .choosingZone
        let isEmpty = page.modifications.isEmpty && page.deletions.isEmpty
        let event = CKSyncEngine.Event.FetchedRecordZoneChanges(
            modifications: page.modifications.map { .init(record: $0) },
            deletions: page.deletions
        )
        var deliveries = [
            Delivery(
                isEmpty ? nil : .fetchedRecordZoneChanges(event),
                then: .zone(zoneID, page.token, isWhole: isWhole)
            )
        ]
        // A record that cannot be read does not hold up the others; it is reported and skipped.
        for (recordID, error) in page.failures { failures.add(error, of: recordID) }
        if isWhole { deliveries += closeZone(page.failures.values.first) }
        return deliveries
    }

    private mutating func failed(
        _ error: CKError,
        _ zoneID: CKRecordZone.ID,
        _ state: SyncEngineState
    ) -> [Delivery] {
        phase = .choosingZone
        switch error.code {
        case _
        where error.isAboutToken && state.zoneTokens[zoneID] != nil
            && restarted.insert(zoneID).inserted:
            return [Delivery(nil, then: .zoneRestart(zoneID))]
        case .zoneNotFound, .userDeletedZone:
            failures.add(error, of: zoneID)
            // The database's next changes report the reason.
            return closeZone(error, then: .zoneGone(zoneID))
        default:
            if error.concernsAllZones {
                self.error = self.error ?? error
            } else {
                failures.add(error, of: zoneID)
            }
            return closeZone(error)
        }
    }
}

extension CKError {
    /// `true` when a token may be the cause: it is too old, or the service does not know it, which
    /// it reports as an invalid argument.
    fileprivate var isAboutToken: Bool { code == .changeTokenExpired || code == .invalidArguments }
}
