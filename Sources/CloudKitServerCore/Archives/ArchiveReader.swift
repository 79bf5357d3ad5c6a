import CloudKitBasics

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Assembles an archive's bytes piece by piece, as they are requested.
///
/// Each asset is read twice because a file's checksum precedes its bytes.
actor ArchiveReader {
    private let plan: ArchivePlan
    private let layout: ZipLayout
    private let assets: any AssetStorage
    private var checksums: [UInt32] = []
    /// The remaining bytes of the asset that is being sent.
    private var rest: AsyncThrowingStream<Data, any Error>.Iterator?
    private var pending: [Data] = []
    private var isAtEnd = false

    init(_ plan: ArchivePlan, _ assets: any AssetStorage) {
        self.plan = plan
        self.assets = assets
        layout = plan.layout
    }

    /// Returns the next bytes; nil at the end.
    func next() async throws -> Data? {
        while true {
            if !pending.isEmpty { return pending.removeFirst() }
            if var rest {
                let piece = try await rest.next(isolation: self)
                self.rest = piece == nil ? nil : rest
                if let piece { return piece }
            }
            guard !isAtEnd else { return nil }
            try await begin()
        }
    }

    /// Begins the next file, or the directory after the last one.
    private func begin() async throws {
        guard checksums.count < plan.entries.count else {
            isAtEnd = true
            pending = [layout.directory(checksums: checksums)]
            return
        }
        let entry = plan.entries[checksums.count]
        var checksum = CRC32()
        if let asset = entry.checksum {
            for try await piece in try await open(asset, entry.file).chunks {
                checksum.update(piece)
            }
            pending = [layout.header(entry.file, checksum: checksum.value)]
            rest = try await open(asset, entry.file).chunks.makeAsyncIterator()
        } else {
            checksum.update(plan.manifest)
            pending = [layout.header(entry.file, checksum: checksum.value), plan.manifest]
        }
        checksums.append(checksum.value)
    }

    private func open(_ checksum: Data, _ file: ZipLayout.File) async throws -> AssetContents {
        guard let contents = try await assets.open(Array(checksum)) else {
            throw MissingAsset(checksum: Array(checksum))
        }
        guard contents.size == file.size else {
            throw StorageError(
                .corrupt,
                "The asset \(Hexadecimal.text(checksum)) has \(contents.size) bytes instead of "
                    + "\(file.size)"
            )
        }
        return contents
    }
}
