import CloudKitWebClient
import Foundation

/// One line of an exported database: an object whose only or first key says what it is.
///
/// ```text
/// {"export":{"container":"iCloud.com.example.app","database":"private","environment":"development","version":1}}
/// {"zone":{"zoneName":"Notes"}}
/// {"files":{"photo":["2cf2…"]},"record":{"recordName":"n1","recordType":"Note",…}}
/// {"end":{"assets":1,"records":1,"zones":1}}
/// ```
///
/// An export of all databases has a part for each, which begins with such a first line.
struct ArchiveLine: Codable {
    /// Where the data came from.
    struct Header: Codable {
        /// The version of the format that this program writes and reads.
        static let currentVersion = 1

        var version: Int
        var container: String
        var environment: ServiceEnvironment
        var database: DatabaseScope
        /// Whether the file has all databases of the container.
        var all: Bool?
    }

    /// What the file holds; a file without this line was cut short.
    struct Summary: Codable, Hashable {
        var zones = 0
        var records = 0
        var assets = 0
    }

    var export: Header?
    var zone: WireZoneID?
    var record: WireRecord?
    /// The names of the files of a record's assets, by field, in the order of the field's list.
    var files: [String: [String]]?
    var end: Summary?
}
