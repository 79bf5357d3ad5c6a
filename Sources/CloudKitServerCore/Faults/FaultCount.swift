/// The number of matching requests and of faults for one rule of a plan.
public struct FaultCount: Hashable, Sendable, Codable {
    /// The number of requests that the rule matched.
    public var fitting: Int
    /// The number of times that its fault happened.
    public var taken: Int

    /// Creates a count.
    public init(fitting: Int, taken: Int) {
        self.fitting = fitting
        self.taken = taken
    }
}
