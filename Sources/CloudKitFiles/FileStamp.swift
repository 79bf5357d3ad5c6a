package import Foundation

/// The attributes of a file that change with its bytes: location, size and modification date.
///
/// A change without a change of size within one tick of the file system's clock is not detected.
package struct FileStamp: Equatable, Sendable {
    private let number: UInt64?
    private let size: UInt64?
    private let modified: Date?

    /// `true` for a regular file, rather than a folder, pipe, socket or device.
    package let isFile: Bool

    /// `true` for a folder.
    package let isFolder: Bool

    /// Creates the stamp of a file; nil when it does not exist.
    package init?(of file: URL) {
        let path = file.resolvingSymlinksInPath().path
        // A file whose attributes cannot be read counts as none.
        guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else {
            return nil
        }
        number = (facts[.systemFileNumber] as? NSNumber)?.uint64Value
        size = (facts[.size] as? NSNumber)?.uint64Value
        modified = facts[.modificationDate] as? Date
        let type = facts[.type] as? FileAttributeType
        isFile = type == .typeRegular
        isFolder = type == .typeDirectory
    }
}
