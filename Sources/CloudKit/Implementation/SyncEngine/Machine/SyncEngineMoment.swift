/// The inputs that the machine cannot compute when something happens.
package struct SyncEngineMoment: Hashable, Sendable {
    /// The time since a start that stays the same while the engine exists.
    package var now: Duration
    /// A random number for jitter, at least 0 and less than 1.
    package var chance: Double

    package init(now: Duration, chance: Double) {
        self.now = now
        self.chance = chance
    }
}
