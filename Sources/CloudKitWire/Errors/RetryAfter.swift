/// How long a client waits because somebody says so.
public enum RetryAfter {
    /// The most seconds that a word of a server makes a client wait: what is on the way, such as a
    /// proxy, speaks in the service's name and knows nothing of its plans.
    public static let longest: Double = 3600

    /// The seconds that are waited; less than none is none, and nil says nothing.
    public static func seconds(_ told: Double?) -> Double? {
        guard let told, !told.isNaN else { return nil }
        return min(max(told, 0), longest)
    }
}
