import CloudKit
import CloudKitFiles
import Foundation

#if canImport(Darwin)
import ObjectiveC

/// The key of the stamp that an asset has; its address is all that counts.
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
    /// Where the file is, for one who reads it at once and does not hand the place on.
    var place: URL? {
        #if canImport(Darwin)
        fileURL
        #else
        unsharedFileURL
        #endif
    }

    /// Makes an asset of a file, and notes what the file is now.
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

    /// The file as it was when the asset was made; nil when that is not known.
    private var noted: FileStamp? {
        #if canImport(Darwin)
        (objc_getAssociatedObject(self, stampKey) as? StampBox)?.stamp
        #else
        stamp
        #endif
    }

    /// Whether the asset's file is the same as another's was when a record took that.
    ///
    /// A file that was written since then is another one, at whatever place; where nobody can know,
    /// too. One that is gone from its place has nothing new.
    func hasSameFile(asTaken old: CKAsset) -> Bool {
        guard let file = place, let oldFile = old.place else { return self === old }
        let now = FileStamp(of: oldFile)
        if file == oldFile { return now == nil || now == old.noted }
        // Apple's assets of fetched records are not noted, and their files are nobody else's.
        let isOld = now == old.noted || old.noted == nil
        return isOld
            && FileManager.default.contentsEqual(atPath: oldFile.path, andPath: file.path)
    }
}
