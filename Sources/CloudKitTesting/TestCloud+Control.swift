public import CloudKitServerCore

// What a test does to its cloud, rather than with it.
extension TestCloud {
    /// Makes things go wrong as a plan says, from its start; nil ends that.
    ///
    /// ```swift
    /// cloud.setFaults(FaultPlan(rules: [
    ///     FaultRule(.lostResponse, operation: "records/modify", call: 1)
    /// ]))
    /// ```
    public func setFaults(_ plan: FaultPlan?) { service.setFaults(plan) }

    /// What became of the plan's rules so far, in their order.
    public var faultCounts: [FaultCount] { service.faultCounts }

    /// Moves the cloud's time forward.
    public func advance(by duration: Duration) { clock.advance(by: duration) }

    /// Empties a container: records, zones, subscriptions and shares go, users stay signed in.
    ///
    /// - Parameters:
    ///   - container: The container; the cloud's own unless given.
    ///   - keepsSchema: Whether record types, fields and indexes stay.
    /// - Throws: When there is no such container, or the cloud's storage fails.
    public func reset(container: String? = nil, keepsSchema: Bool = false) async throws {
        try await service.resetContainer(
            container ?? containerIdentifier,
            keepsSchema: keepsSchema
        )
    }

    /// Keeps what a container holds under a name.
    ///
    /// - Parameters:
    ///   - name: The snapshot's name; an earlier one of that name goes.
    ///   - container: The container; the cloud's own unless given.
    /// - Throws: When there is no such container, or the cloud's storage fails.
    public func takeSnapshot(_ name: String, container: String? = nil) async throws {
        try await service.takeSnapshot(name, of: container ?? containerIdentifier)
    }

    /// Brings a container back to what a snapshot kept.
    ///
    /// Change tokens of before are expired then, as they are after a restore of a real server.
    ///
    /// - Parameters:
    ///   - name: The snapshot's name.
    ///   - container: The container; the cloud's own unless given.
    /// - Throws: When there is no such container or snapshot, or the cloud's storage fails.
    public func restoreSnapshot(_ name: String, container: String? = nil) async throws {
        try await service.restoreSnapshot(name, of: container ?? containerIdentifier)
    }
}
