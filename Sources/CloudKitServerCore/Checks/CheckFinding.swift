/// Something that is not as it should be in the data of a service.
package struct CheckFinding: Hashable, Sendable, Codable {
    /// The container; nil where it concerns none alone.
    package var container: String?
    /// `development` or `production`.
    package var environment: String?
    /// Whose database: a user record name, or `public`.
    package var database: String?
    /// The zone's name.
    package var zone: String?
    /// The record's name.
    package var record: String?
    /// What is wrong, and what to do about it.
    package var problem: String
    /// Whether it is about what can be made of the records again.
    package var isDerived = false
    /// Whether it was made again.
    package var isRepaired = false

    init(_ problem: String, isDerived: Bool = false) {
        self.problem = problem
        self.isDerived = isDerived
    }
}

/// What a check looked at and found.
package struct CheckReport: Hashable, Sendable, Codable {
    /// Zones that were looked at.
    package var zones = 0
    /// Records that were looked at, without tombstones.
    package var records = 0
    /// Files that were looked at.
    package var assets = 0
    /// What was wrong.
    package var findings: [CheckFinding] = []

    /// Whether all is as it should be, or is now.
    package var isGood: Bool { findings.allSatisfy(\.isRepaired) }
}
