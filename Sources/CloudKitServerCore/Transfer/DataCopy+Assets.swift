import CloudKitBasics
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The assets, of which every one is read again from where it was copied to.
extension DataCopy {
    /// The number of assets that are copied at a time.
    private static let width = 8

    /// The number of assets that are listed at a time.
    private static let page = 1000

    /// Copies and compares the assets that the rows hold.
    func copy(
        _ assets: Assets,
        _ report: inout Report,
        _ state: inout CopyState
    ) async throws {
        var checksum = Data()
        while true {
            let after = checksum
            let page = try await Self.onOwnThread {
                try target.read { try $0.assets(after: after, limit: Self.page) }
            }
            guard let last = page.last else { return }
            report.assets += page.count
            for start in stride(from: 0, to: page.count, by: Self.width) {
                try Task.checkCancellation()
                let group = Array(page[start...].prefix(Self.width))
                try await copy(group, assets, after: state.asset, &report)
                if let last = group.last, state.asset.lexicographicallyPrecedes(last) {
                    state = try await advanced(state, to: last)
                }
            }
            checksum = last
        }
    }

    private func advanced(_ state: CopyState, to checksum: Data) async throws -> CopyState {
        try await Self.onOwnThread {
            var state = state
            try advance(&state) { $0.asset = checksum }
            return state
        }
    }

    /// The outcome of one asset.
    private enum Outcome {
        case same, damagedInSource, differs
    }

    /// Copies assets, except those that an earlier run has copied, and compares all of them.
    private func copy(
        _ page: [Data],
        _ assets: Assets,
        after done: Data,
        _ report: inout Report
    ) async throws {
        let outcomes = try await withThrowingTaskGroup(of: (Data, Outcome).self) { group in
            for checksum in page {
                let isDone = !done.lexicographicallyPrecedes(checksum)
                group.addTask {
                    (checksum, try await copy(Array(checksum), assets, isCopied: isDone))
                }
            }
            return try await group.reduce(into: [Data: Outcome]()) { $0[$1.0] = $1.1 }
        }
        for checksum in page {
            let name = Hexadecimal.text(checksum)
            switch outcomes[checksum] {
            case .damagedInSource: report.damagedAssets.append(name)
            case .differs: report.add("Asset \(name): \(target.name) has other bytes, or none")
            case .same, nil: break
            }
        }
    }

    /// Copies an asset if necessary, and reads it again.
    private func copy(
        _ checksum: [UInt8],
        _ assets: Assets,
        isCopied: Bool
    ) async throws -> Outcome {
        if isCopied, try await Self.has(checksum, assets.target) { return .same }
        do {
            guard let contents = try await assets.source.open(checksum),
                try await assets.target.store(contents.chunks, limit: .max).checksum == checksum
            else { return .damagedInSource }
        } catch let error as StorageError where error.isDamage {
            return .damagedInSource
        }
        return try await Self.has(checksum, assets.target) ? .same : .differs
    }

    /// Returns whether a storage has all bytes of an asset.
    private static func has(_ checksum: [UInt8], _ storage: any AssetStorage) async throws -> Bool {
        do {
            guard let contents = try await storage.open(checksum) else { return false }
            var hash = SHA256()
            for try await piece in contents.chunks { hash.update(data: piece) }
            return Array(hash.finalize()) == checksum
        } catch let error as StorageError where error.isDamage {
            return false
        }
    }
}
