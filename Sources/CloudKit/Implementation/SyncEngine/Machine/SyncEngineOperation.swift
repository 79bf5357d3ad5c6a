/// An operation of an engine, which takes several actions one after the other.
enum SyncEngineOperation: Sendable {
    case fetch(FetchOperation)
    case send(SendOperation)

    /// The call that waits for the end; nil for a scheduled operation.
    var call: SyncEngineCall.ID? {
        switch self {
        case .fetch(let fetch): fetch.call
        case .send(let send): send.call
        }
    }

    /// The calls of `cancelOperations` that wait for the end.
    var cancellations: [SyncEngineCall.ID] {
        switch self {
        case .fetch(let fetch): fetch.cancellations
        case .send(let send): send.cancellations
        }
    }

    /// The group of the operation's requests.
    var group: CKOperationGroup? {
        switch self {
        case .fetch(let fetch): fetch.options.operationGroup
        case .send(let send): send.context.options.operationGroup
        }
    }

    /// Returns the next step.
    mutating func next(_ state: SyncEngineState) -> SyncEngineStep {
        switch self {
        case .fetch(var fetch):
            defer { self = .fetch(fetch) }
            return fetch.next(state)
        case .send(var send):
            defer { self = .send(send) }
            return send.next(state)
        }
    }

    /// Ends the operation as soon as the action in flight allows; `isVoid` when the account may have
    /// changed, so that what is fetched belongs to no user.
    mutating func stop(_ error: CKError, isVoid: Bool = false) {
        switch self {
        case .fetch(var fetch):
            fetch.stop(error, isVoid: isVoid)
            self = .fetch(fetch)
        case .send(var send):
            send.stop(error)
            self = .send(send)
        }
    }

    /// Adds a call of `cancelOperations` that waits for the end.
    mutating func addCancellation(_ id: SyncEngineCall.ID) {
        switch self {
        case .fetch(var fetch):
            fetch.cancellations.append(id)
            self = .fetch(fetch)
        case .send(var send):
            send.cancellations.append(id)
            self = .send(send)
        }
    }
}
