/// A problem in the data of a service.
package struct CheckFinding: Hashable, Sendable, Codable {
    /// The container; nil if the problem concerns no single one.
    package var container: String?
    /// `development` or `production`.
    package var environment: String?
    /// The owner of the database: a user record name, or `public`.
    package var database: String?
    /// The zone's name.
    package var zone: String?
    /// The record's name.
    package var record: String?
    /// A description of the problem and its remedy.
    package var problem: String
    /// `true` when a repair corrects it: the data can be derived from the records again, or is left of
    /// a field that an import dropped.
    package var isDerived = false
    /// `true` when it was corrected.
    package var isRepaired = false

    init(_ problem: String, isDerived: Bool = false) {
        self.problem = problem
        self.isDerived = isDerived
    }
}

/// The extent and the results of a check.
package struct CheckReport: Hashable, Sendable, Codable {
    /// The number of checked zones.
    package var zones = 0
    /// The number of checked records, without tombstones.
    package var records = 0
    /// The number of checked files.
    package var assets = 0
    /// The problems found.
    package var findings: [CheckFinding] = []

    /// `false` when a repair found the database itself damaged beyond what it can do; nil when only
    /// a repair would show that.
    package var canBeRepaired: Bool? = true

    /// `true` when there are no problems, or all were repaired.
    package var isGood: Bool { findings.allSatisfy(\.isRepaired) }
}
