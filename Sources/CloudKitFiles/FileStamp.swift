package import Foundation

/// What changes with a file's bytes: where it is, how long it is, when it was written.
///
/// A change of equal length within one tick of the file system's clock is not seen.
package struct FileStamp: Equatable, Sendable {
    private let number: UInt64?
    private let size: UInt64?
    private let modified: Date?

    /// Whether it is a file with bytes of its own: no folder, pipe, socket or device.
    package let isFile: Bool

    /// Whether it is a folder.
    package let isFolder: Bool

    /// Looks at a file; nil when it is not there.
    package init?(of file: URL) {
        let path = file.resolvingSymlinksInPath().path
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
