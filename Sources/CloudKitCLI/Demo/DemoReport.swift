/// What the demonstration did, for people and for programs.
package struct DemoReport: Codable, Equatable, Sendable {
    /// Countries in the graph.
    package var countries: Int
    /// Different time zones in the graph.
    package var timeZones: Int
    /// Records saved with the one call.
    package var records: Int
    /// HTTP requests of both devices, all steps together.
    package var requests: Int
    /// Whether the second device's values and file equalled the first's.
    package var equal: Bool
    /// Conflicts met and resolved.
    package var conflictsResolved: Int
    /// Seconds from the first save to the last check.
    package var seconds: Double
    /// Records per second, saved by the first device.
    package var recordsSavedPerSecond: Double
    /// Records per second, fetched by the second device.
    package var recordsFetchedPerSecond: Double
}
