import CloudKit
import CloudKitFiles
import Foundation

#if canImport(Darwin)
import ObjectiveC

/// The key of an asset's stamp; only its address counts.
private nonisolated(unsafe) let stampKey = UnsafeMutableRawPointer.allocate(
    byteCount: 1,
    alignment: 1
)

/// A stamp as an object.
private final class StampBox: NSObject {
    let stamp: FileStamp?

    init(_ stamp: FileStamp?) { self.stamp = stamp }
}
#endif

extension CKAsset {
    /// The file's location, for a caller that reads it immediately and does not pass the location on.
    var place: URL? {
        #if canImport(Darwin)
        fileURL
        #else
        unsharedFileURL
        #endif
    }

    /// Creates an asset from a file, and notes the file's present state.
    static func noting(_ file: URL) -> CKAsset {
        let asset = CKAsset(fileURL: file)
        #if canImport(Darwin)
        objc_setAssociatedObject(
            asset,
            stampKey,
            StampBox(FileStamp(of: file)),
            .OBJC_ASSOCIATION_RETAIN
        )
        #endif
        return asset
    }

    /// The state of the file when the asset was created; nil when it is unknown.
    private var noted: FileStamp? {
        #if canImport(Darwin)
        (objc_getAssociatedObject(self, stampKey) as? StampBox)?.stamp
        #else
        stamp
        #endif
    }

    /// Returns whether the asset's file is the same as another's was when a record took that.
    ///
    /// A file that was written since then is a different one, wherever it is; so is one whose state
    /// is unknown. A file that was deleted has nothing new.
    func hasSameFile(asTaken old: CKAsset) -> Bool {
        guard let file = place, let oldFile = old.place else { return self === old }
        let now = FileStamp(of: oldFile)
        if file == oldFile { return now == nil || now == old.noted }
        // Apple's assets of fetched records have no noted state, and nobody else uses their files.
        let isOld = now == old.noted || old.noted == nil
        return isOld
            && FileManager.default.contentsEqual(atPath: oldFile.path, andPath: file.path)
    }
}
