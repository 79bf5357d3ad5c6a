/// When a fault happens: for which requests, and for which of those.
public struct FaultRule: Hashable, Sendable {
    /// What goes wrong.
    public var fault: Fault
    /// The endpoint, such as `records/modify`; `assets/send` and `assets/fetch` for the bytes of
    /// assets; `push/wait` for the requests that wait for notifications; `records/*` for all that begin so; nil for every one.
    public var operation: String?
    /// The type of a record in the request, or of the query; nil for any.
    public var recordType: String?
    /// The name of a zone in the request; nil for any.
    public var zone: String?
    /// The caller, by record name or by given and family name; nil for anyone.
    public var user: String?
    /// Which of the fitting requests, counted from 1; nil for all.
    public var call: Int?
    /// How often the fault happens at most; nil for always.
    public var times: Int?
    /// With which probability it happens, from 0 to 1; nil for certainly.
    public var probability: Double?

    /// Makes a rule.
    ///
    /// - Parameters:
    ///   - fault: What goes wrong.
    ///   - operation: The endpoint, or nil for every one.
    ///   - recordType: The type of a record in the request, or nil for any.
    ///   - zone: The name of a zone in the request, or nil for any.
    ///   - user: The caller, or nil for anyone.
    ///   - call: Which of the fitting requests, counted from 1, or nil for all.
    ///   - times: How often at most, or nil for always.
    ///   - probability: With which probability, or nil for certainly.
    public init(
        _ fault: Fault,
        operation: String? = nil,
        recordType: String? = nil,
        zone: String? = nil,
        user: String? = nil,
        call: Int? = nil,
        times: Int? = nil,
        probability: Double? = nil
    ) {
        self.fault = fault
        self.operation = operation
        self.recordType = recordType
        self.zone = zone
        self.user = user
        self.call = call
        self.times = times
        self.probability = probability
    }

    /// The places of the items that a request's fault concerns; nil when the rule does not fit it.
    func items(of subject: FaultSubject) -> Set<Int>? {
        guard fits(operation: subject.operation) else { return nil }
        if let user, !subject.userNames.contains(user) { return nil }
        var places = Set(subject.items.indices)
        if recordType != nil || zone != nil {
            places = places.filter { place in
                let item = subject.items[place]
                return (recordType == nil || item.recordType == recordType)
                    && (zone == nil || item.zone == zone)
            }
            if places.isEmpty { return nil }
        }
        switch fault {
        case .itemError(_, let item, _), .nativeItemError(_, let item, _):
            if let item { places.formIntersection([item]) }
            return places.isEmpty ? nil : places
        default: return places
        }
    }

    private func fits(operation name: String) -> Bool {
        guard let operation else { return true }
        return operation.hasSuffix("*")
            ? name.hasPrefix(operation.dropLast()) : name == operation
    }
}
