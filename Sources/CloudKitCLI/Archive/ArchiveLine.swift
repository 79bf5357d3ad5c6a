import CloudKitWebClient
import Foundation

/// One line of an exported database: an object whose first or only key identifies its kind.
///
/// ```text
/// {"export":{"container":"iCloud.com.example.app","database":"private","environment":"development","version":1}}
/// {"zone":{"zoneName":"Notes"}}
/// {"files":{"photo":["2cf2…"]},"record":{"recordName":"n1","recordType":"Note",…}}
/// {"end":{"assets":1,"records":1,"zones":1}}
/// ```
///
/// An export of all databases has a part for each, which begins with a header line.
struct ArchiveLine: Codable {
    /// The origin of the data.
    struct Header: Codable {
        /// The version of the format that this program writes and reads.
        static let currentVersion = 1

        var version: Int
        var container: String
        var environment: ServiceEnvironment
        var database: DatabaseScope
        /// `true` when the file has all databases of the container.
        var all: Bool?
    }

    /// The content of the file; a file without this line is truncated.
    struct Summary: Codable, Hashable {
        var zones = 0
        var records = 0
        var assets = 0
    }

    var export: Header?
    var zone: WireZoneID?
    var record: WireRecord?
    /// The file names of a record's assets, by field, in the order of the field's list.
    var files: [String: [String]]?
    var end: Summary?
}
