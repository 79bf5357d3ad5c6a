/// What the machine cannot know by itself when something happens.
package struct SyncEngineMoment: Hashable, Sendable {
    /// The time since a beginning that stays the same while the engine lives.
    package var now: Duration
    /// A number by chance, at least 0 and less than 1.
    package var chance: Double

    package init(now: Duration, chance: Double) {
        self.now = now
        self.chance = chance
    }
}
