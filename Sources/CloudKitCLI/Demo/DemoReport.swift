#if !canImport(Darwin) || PORTABLE_CLOUDKIT
import Foundation

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
    /// Rows that both databases hold after the store merged what both devices did offline.
    package var storeRows: Int
    /// Edits that lost to another device's, and are kept in a journal.
    package var storeEditsOverruled: Int
    /// Seconds from the first save to the last check.
    package var seconds: Double
    /// Records per second, saved by the first device.
    package var recordsSavedPerSecond: Double
    /// Records per second, fetched by the second device.
    package var recordsFetchedPerSecond: Double
}

extension DemoReport {
    /// The report as one JSON object.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// The report in words.
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
