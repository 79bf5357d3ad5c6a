public import CloudKitServerCore

// A test's control over its cloud: faults, time, resets and snapshots.
extension TestCloud {
    /// Starts a fault plan from its beginning; `nil` ends the current plan.
    ///
    /// ```swift
    /// cloud.setFaults(FaultPlan(rules: [
    ///     FaultRule(.lostResponse, operation: "records/modify", call: 1)
    /// ]))
    /// ```
    public func setFaults(_ plan: FaultPlan?) { service.setFaults(plan) }

    /// The number of matching requests and of faults for each rule of the plan, in the order of the
    /// rules.
    public var faultCounts: [FaultCount] { service.faultCounts }

    /// Moves the cloud's time forward.
    public func advance(by duration: Duration) { clock.advance(by: duration) }

    /// Empties a container: deletes records, zones, subscriptions and shares; users stay signed in.
    ///
    /// - Parameters:
    ///   - container: The container; by default the cloud's own.
    ///   - keepsSchema: A Boolean value that indicates whether record types, fields and indexes are
    ///     kept.
    /// - Throws: An error when there is no such container, or the cloud's storage fails.
    public func reset(container: String? = nil, keepsSchema: Bool = false) async throws {
        try await service.resetContainer(
            container ?? containerIdentifier,
            keepsSchema: keepsSchema
        )
    }

    /// Saves the contents of a container as a named snapshot.
    ///
    /// - Parameters:
    ///   - name: The snapshot's name; an earlier snapshot with the same name is replaced.
    ///   - container: The container; by default the cloud's own.
    /// - Throws: An error when there is no such container, or the cloud's storage fails.
    public func takeSnapshot(_ name: String, container: String? = nil) async throws {
        try await service.takeSnapshot(name, of: container ?? containerIdentifier)
    }

    /// Restores a container to the contents of a snapshot.
    ///
    /// Change tokens issued before the call are expired afterwards, as after a restore of a real
    /// server.
    ///
    /// - Parameters:
    ///   - name: The snapshot's name.
    ///   - container: The container; by default the cloud's own.
    /// - Throws: An error when there is no such container or snapshot, or the cloud's storage
    ///   fails.
    public func restoreSnapshot(_ name: String, container: String? = nil) async throws {
        try await service.restoreSnapshot(name, of: container ?? containerIdentifier)
    }
}
