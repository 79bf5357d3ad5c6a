#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The progress of an unfinished copy, as its target keeps it.
package struct CopyState: Hashable, Codable {
    /// The name of the setting in which a target keeps it.
    package static let setting = "unfinishedCopy"

    /// The name of the setting in which a database notes where its assets are.
    package static let assetsLocation = "assets-location"

    /// The names of settings that belong to a place and not to the data in it.
    private static let ownSettings = [setting, assetsLocation]

    /// The names of those settings, in a list of SQL's.
    package static var ownSettingsList: String {
        ownSettings.map { "'\($0)'" }.joined(separator: ", ")
    }

    /// A checksum of the state of the source.
    var source: Data
    /// The last change of this state, so that two copies to one target notice each other.
    var version: UUID
    /// The name of the table of which the copy adds rows.
    var table: String
    /// The place of the last row of that table that was added.
    var key: [DataValue]?
    /// `true` once all rows are there.
    var hasRows = false
    /// The checksum of the last asset that was added, after the rows.
    var asset = Data()

    init(source: Data) {
        self.source = source
        version = UUID()
        table = DataTable.all[0].name
    }

    /// Returns the error with which data is refused that a copy has not completed.
    package static func refusal(of name: String) -> StorageError {
        StorageError(
            .other,
            "\(name) has an unfinished copy of other data; run the same cloudkit data copy again, which "
                + "continues it, or start over with an empty target"
        )
    }

    /// The error of a copy that finds another state than its own.
    package static let otherCopy = StorageError(
        .other,
        "Another copy, or a server, writes to the same target; end it, and run this one again"
    )

    /// Reads a state.
    ///
    /// - Throws: `StorageError` for one of another version.
    init(_ data: Data, of name: String) throws {
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            throw StorageError(
                .other,
                "\(name) has an unfinished copy of another version of cloudkit; start over with an empty "
                    + "target"
            )
        }
    }

    var encoded: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return try encoder.encode(self)
        }
    }
}
