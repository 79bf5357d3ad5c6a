/// The limits of a wait that a server requests.
public enum RetryAfter {
    /// The maximum number of seconds that a server can make a client wait, because an intermediary
    /// such as a proxy speaks in the service's name and does not know its plans.
    public static let longest: Double = 3600

    /// Returns the seconds to wait; negative values become 0, and nil stays nil.
    public static func seconds(_ told: Double?) -> Double? {
        guard let told, !told.isNaN else { return nil }
        return min(max(told, 0), longest)
    }
}
