import Foundation

/// The number of rounds that `Scripts/postgres` asks for; nil when another part runs, or none.
enum Rounds {
    static let ofNodes = number("CLOUDKIT_NODES_ROUNDS")
    static let ofStandby = number("CLOUDKIT_STANDBY_ROUNDS")
    static let ofHistory = number("CLOUDKIT_HISTORY_ROUNDS")
    static let ofCut = number("CLOUDKIT_CUT_ROUNDS")

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }
}
