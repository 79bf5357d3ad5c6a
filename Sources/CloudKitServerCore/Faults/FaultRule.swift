/// A rule that specifies a fault and the requests that it affects.
///
/// A rule matches only requests that its fault can affect, as its ``Fault`` says, so that only those
/// count for `call` and `times`.
public struct FaultRule: Hashable, Sendable {
    /// The fault.
    public var fault: Fault
    /// The endpoint, such as `records/modify`; `nil` for all.
    ///
    /// The bytes of assets are `assets/send` and `assets/fetch`, the requests that wait for
    /// notifications `push/wait`. `records/*` matches all endpoints that begin with `records/`.
    public var operation: String?
    /// The type of a record in the request, or of the query; `nil` for any.
    public var recordType: String?
    /// The name of a zone in the request; `nil` for any.
    public var zone: String?
    /// The caller, by record name or by given and family name; `nil` for any.
    public var user: String?
    /// The number of the matching request that the fault affects, counted from 1; `nil` for all.
    public var call: Int?
    /// The maximum number of times that the fault happens; `nil` for no limit.
    public var times: Int?
    /// The probability of the fault, from 0 to 1; `nil` for certainty.
    public var probability: Double?

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - operation: The endpoint, or `nil` for all.
    ///   - recordType: The type of a record in the request, or `nil` for any.
    ///   - zone: The name of a zone in the request, or `nil` for any.
    ///   - user: The caller, or `nil` for any.
    ///   - call: The number of the matching request that is affected, counted from 1, or `nil` for all.
    ///   - times: The maximum number of times that the fault happens, or `nil` for no limit.
    ///   - probability: The probability of the fault, or `nil` for certainty.
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

    /// Returns the indexes of the items that a request's fault concerns; nil if the rule does not match.
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
        return fault.reach(of: places, in: subject)
    }

    private func fits(operation name: String) -> Bool {
        guard let operation else { return true }
        return operation.hasSuffix("*")
            ? name.hasPrefix(operation.dropLast()) : name == operation
    }
}
