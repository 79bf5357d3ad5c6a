/// What became of one rule of a plan so far.
public struct FaultCount: Hashable, Sendable, Codable {
    /// How many requests the rule fitted.
    public var fitting: Int
    /// How often its fault happened.
    public var taken: Int

    /// Makes a count.
    public init(fitting: Int, taken: Int) {
        self.fitting = fitting
        self.taken = taken
    }
}
