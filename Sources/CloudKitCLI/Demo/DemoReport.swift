#if !canImport(Darwin) || PORTABLE_CLOUDKIT
import Foundation

/// The results of the demonstration, for people and for programs.
package struct DemoReport: Codable, Equatable, Sendable {
    /// Countries in the graph.
    package var countries: Int
    /// Different time zones in the graph.
    package var timeZones: Int
    /// Records saved with a single call.
    package var records: Int
    /// HTTP requests of both devices, in all steps.
    package var requests: Int
    /// `true` when the second device's values and file equal the first's.
    package var equal: Bool
    /// Conflicts met and resolved.
    package var conflictsResolved: Int
    /// Rows that both databases hold after the store merged both devices' offline edits.
    package var storeRows: Int
    /// Edits that lost to another device's, and are kept in the journal.
    package var storeEditsOverruled: Int
    /// Seconds from the first save to the last check.
    package var seconds: Double
    /// Records per second, saved by the first device.
    package var recordsSavedPerSecond: Double
    /// Records per second, fetched by the second device.
    package var recordsFetchedPerSecond: Double
}

extension DemoReport {
    /// The report as text.
    var text: String {
        """
        \(countries) countries with \(timeZones) time zones: \(records) records, \(requests) requests.
        Device B's values equal device A's: \(equal ? "yes" : "no"). \
        Conflicts resolved: \(conflictsResolved).
        The store merged the offline edits of two databases of \(storeRows) rows; edits overruled, and \
        kept: \(storeEditsOverruled).
        \(Int(recordsSavedPerSecond)) records/s saved, \(Int(recordsFetchedPerSecond)) records/s \
        fetched; \(String(format: "%.2f", seconds)) s in all.
        """
    }
}
#endif
