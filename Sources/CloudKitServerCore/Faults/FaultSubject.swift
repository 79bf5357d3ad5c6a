/// The properties of a request that rules match.
struct FaultSubject: Hashable, Sendable {
    /// A record, a zone or a query of the request.
    struct Item: Hashable, Sendable {
        var recordType: String?
        var zone: String?
    }

    var operation: String
    /// The caller's record name and full name.
    var userNames: Set<String> = []
    var items: [Item] = []

    init(operation: String, userNames: Set<String> = [], items: [Item] = []) {
        self.operation = operation
        self.userNames = userNames
        self.items = items
    }
}
