import Foundation

/// The random schedules that a run of the tests carries out: a few, or those that `Scripts/simulate` and
/// `Scripts/check schedules` request.
enum RequestedSchedules {
    private static let environment = ProcessInfo.processInfo.environment
    private static let first = number("CLOUDKIT_STORE_FIRST_SEED") ?? 1
    /// The requested number of plain schedules, or of those of the only variant; nil when none are requested.
    private static let count = number("CLOUDKIT_STORE_SEEDS")

    /// The only variant to run; nil for all.
    private static let variant = environment["CLOUDKIT_STORE_VARIANT"]

    /// `true` when certain seeds or a certain variant are requested; then the seeds that the tests remember
    /// do not run.
    static let areChosen = variant != nil || environment["CLOUDKIT_STORE_FIRST_SEED"] != nil

    /// Returns whether schedules of a variant run.
    static func includes(_ name: String) -> Bool { variant == nil || variant == name }

    private static func number(_ name: String) -> UInt64? {
        environment[name].flatMap(UInt64.init)
    }

    /// Returns the seeds of a variant's schedules.
    ///
    /// A number that is requested for all variants is that of the plain schedules. The others keep their share.
    ///
    /// - Parameters:
    ///   - name: The variant.
    ///   - usual: The number of its schedules that run with the other tests.
    static func seeds(of name: String, usual: UInt64) -> Range<UInt64> {
        switch (variant, count) {
        case (nil, nil): first..<first + usual
        case (nil, let count?):
            first..<first + (count * usual + plainCount - 1) / plainCount
        case (name, let count): first..<first + (count ?? 1_000)
        default: first..<first
        }
    }

    private static let plainCount = SimulationVariant.plain.count
}
