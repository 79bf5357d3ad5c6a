extension StoreSimulation {
    /// The numbers of what happened in the schedules of a run.
    public struct Report: Hashable, Sendable {
        /// The number of schedules.
        public private(set) var schedules = 0
        /// The number of edits that were made.
        public private(set) var edits = 0
        /// The number of edits that a constraint or a trigger refused.
        public private(set) var refusedEdits = 0
        /// The number of syncs during which something went wrong.
        public private(set) var faults = 0
        /// The number of processes that ended during a sync.
        public private(set) var crashes = 0
        /// The number of upgrades.
        public private(set) var upgrades = 0
        /// The number of edits that lost against others, by the journals.
        public private(set) var lostEdits = 0
        /// The number of rows that were inserted, by table.
        public private(set) var rows: [String: Int] = [:]
        /// The newest reason why a row could not be inserted, by table.
        var refusals: [String: String] = [:]

        mutating func add(_ outcome: Run.Outcome) {
            schedules += 1
            edits += outcome.edits
            refusedEdits += outcome.refusedEdits
            faults += outcome.faults
            crashes += outcome.crashes
            upgrades += outcome.upgrades
            lostEdits += outcome.lostEdits
            rows.merge(outcome.rows, uniquingKeysWith: +)
            refusals.merge(outcome.refusals) { $1 }
        }

        /// Throws if a table never had a row, because nothing was tested then.
        func checkCoverage() throws {
            for (table, count) in rows.sorted(by: { $0.key < $1.key }) where count == 0 {
                throw CoverageError(table: table, reason: refusals[table])
            }
        }
    }

    /// An error about a table in which no row could be inserted.
    public struct CoverageError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The table.
        public var table: String
        /// The refusal of the last attempt, if there was one.
        public var reason: String?

        /// The error with its remedy.
        public var description: String {
            "No schedule inserted a row into the table '\(table)'"
                + (reason.map { ", the last time because of: \($0)" } ?? "")
                + "; make values for its columns with `values`, give the simulation an edit of the "
                + "app that inserts one, or run more seeds"
        }
    }

    /// An error about devices that end wrong.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The seed of the schedule.
        public var seed: UInt64
        /// The problems.
        public var problems: [String]
        /// The steps that lead there.
        public var steps: [String]

        init(seed: UInt64, problems: [String], steps: [String]) {
            self.seed = seed
            self.problems = problems
            self.steps = steps
        }

        /// The steps and what is wrong after them.
        public var description: String {
            """
            Seed \(seed):
            \(steps.joined(separator: "\n"))
            \(problems.map { "PROBLEM: \($0)" }.joined(separator: "\n"))
            """
        }
    }
}
