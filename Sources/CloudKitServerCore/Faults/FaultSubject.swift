import CloudKitWire

/// The properties of a request that rules match.
struct FaultSubject: Hashable, Sendable {
    /// A record, a zone or a query of the request.
    struct Item: Hashable, Sendable {
        var recordType: String?
        var zone: String?
        /// `true` for an operation that succeeds, and would not if its record had another tag.
        var comparesTag = false
    }

    var operation: String
    /// The caller's record name and full name.
    var userNames: Set<String> = []
    var items: [Item] = []
    /// `true` when the caller has a session, which can end.
    var hasSession = false
    /// `true` for the notification that ends a wait, apart from the request that waits.
    var hasNotification = false

    /// The endpoint; nil for operations outside the protocol.
    var endpoint: Endpoint? { Endpoint(rawValue: operation) }

    init(operation: String, userNames: Set<String> = [], items: [Item] = []) {
        self.operation = operation
        self.userNames = userNames
        self.items = items
    }
}
