import CloudKit

/// A device of the simulation: an app, its engine's machine while it runs, and its network.
struct ModelDevice {
    /// The user of the device in normal operation.
    let owner: String
    let isAutomatic: Bool
    var app: ModelApp
    var machine: SyncEngineMachine
    /// The number of starts of the app; events of an earlier one are ignored.
    var life = 0
    /// The signed-in user.
    var account: String?
    var isOnline = true
    var isListening = false
    var hasMissedPush = false
    /// The number of the request in flight.
    var request: Int?
    /// The time before which a scheduled request breaks the throttling.
    var throttledUntil = Duration.zero
    var reason = CKSyncEngine.SyncReason.scheduled
    var openCalls: Set<Int> = []
    var grammar = EventGrammar()
}

/// The order in which events may occur.
struct EventGrammar {
    private var isFetching = false
    private var isSending = false
    private var zone: CKRecordZone.ID?

    /// Accepts an event; returns a description of the problem, if any.
    mutating func take(_ event: CKSyncEngine.Event) -> String? {
        switch event {
        case .willFetchChanges:
            defer { isFetching = true }
            return isFetching || isSending ? "willFetchChanges inside an operation" : nil
        case .didFetchChanges:
            defer { isFetching = false }
            return !isFetching || zone != nil ? "didFetchChanges without its beginning" : nil
        case .willFetchRecordZoneChanges(let event):
            defer { zone = event.zoneID }
            return !isFetching || zone != nil ? "a zone begins inside another" : nil
        case .didFetchRecordZoneChanges(let event):
            defer { zone = nil }
            return zone != event.zoneID ? "a zone ends that did not begin" : nil
        case .fetchedRecordZoneChanges: return zone == nil ? "records outside a zone" : nil
        case .fetchedDatabaseChanges:
            return !isFetching || zone != nil ? "zones outside a fetch" : nil
        case .willSendChanges:
            defer { isSending = true }
            return isFetching || isSending ? "willSendChanges inside an operation" : nil
        case .didSendChanges:
            defer { isSending = false }
            return isSending ? nil : "didSendChanges without its beginning"
        case .sentRecordZoneChanges, .sentDatabaseChanges:
            return isSending ? nil : "results outside a sending"
        case .accountChange: return isFetching || isSending ? "an account inside an operation" : nil
        case .stateUpdate: return nil
        }
    }
}
