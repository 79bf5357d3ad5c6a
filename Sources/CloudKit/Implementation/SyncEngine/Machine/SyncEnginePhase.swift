/// The states of an engine's machine: the one action in flight, with the data that only it needs.
///
/// The outcome of an action belongs to one state; in any other the driver has made a mistake.
enum SyncEnginePhase: Sendable {
    typealias Delivery = SyncEngineStep.Delivery

    /// The engine has not started.
    case created
    /// Nothing is due; `wake` is the time of the requested wake-up, if there is one.
    case idle(wake: Duration?)
    /// The next action is to be chosen: the first delivery, or else the operation's next step.
    ///
    /// The machine leaves this state before it returns its actions.
    case choosing([Delivery], during: SyncEngineOperation?)
    /// The signed-in user is requested; `isOutdated` when the account may have changed since.
    case identifying(isOutdated: Bool)
    /// A subscription to the database's changes is requested.
    case subscribing
    /// The delegate handles an event, after which a change applies; then come further deliveries.
    case delivering(SyncEngineStep.Change?, then: [Delivery], during: SyncEngineOperation?)
    /// The delegate chooses the options of a fetch or the batch of a send.
    case consulting(SyncEngineOperation)
    /// A request of an operation is in flight.
    case requesting(SyncEngineOperation)
    /// The engine no longer exists.
    case stopped

    /// The time of the wake-up that was requested.
    var wake: Duration? {
        if case .idle(let wake) = self { wake } else { nil }
    }

    /// The operation in progress.
    var operation: SyncEngineOperation? {
        switch self {
        case .choosing(_, let operation), .delivering(_, _, let operation): operation
        case .consulting(let operation), .requesting(let operation): operation
        case .created, .idle, .identifying, .subscribing, .stopped: nil
        }
    }

    /// Updates the operation in progress, whatever is in flight.
    mutating func updateOperation(_ update: (inout SyncEngineOperation) -> Void) {
        guard var operation else { return }
        update(&operation)
        switch self {
        case .choosing(let deliveries, _): self = .choosing(deliveries, during: operation)
        case .delivering(let change, let rest, _):
            self = .delivering(change, then: rest, during: operation)
        case .consulting: self = .consulting(operation)
        case .requesting: self = .requesting(operation)
        case .created, .idle, .identifying, .subscribing, .stopped: break
        }
    }
}

extension SyncEnginePhase: CustomStringConvertible {
    /// The state's name, without any data of the app.
    var description: String {
        let purpose =
            switch operation {
            case .fetch: " in a fetch"
            case .send: " in a send"
            case nil: ""
            }
        return switch self {
        case .created: "created"
        case .idle: "idle"
        case .choosing: "choosing" + purpose
        case .identifying(let isOutdated): isOutdated ? "identifying again" : "identifying"
        case .subscribing: "subscribing"
        case .delivering: "delivering" + purpose
        case .consulting: "consulting" + purpose
        case .requesting: "requesting" + purpose
        case .stopped: "stopped"
        }
    }
}
