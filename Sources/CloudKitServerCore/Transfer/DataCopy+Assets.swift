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

    /// Copies and compares the assets that the rows hold.
    func assets(_ report: inout Report, _ state: inout CopyState) async throws {
        let location = targetAssets.location
        let isShared = location != nil && location == sourceAssets.location
        var checksum = Data()
        while true {
            try Task.checkCancellation()
            let after = checksum
            let page = try await Self.onOwnThread {
                try target.read { try $0.assets(after: after, limit: Self.width) }
            }
            guard let last = page.last else { return }
            report.assets += page.count
            // Those of the same place are there, and nothing was done to them.
            if !isShared {
                let isCopied = try await copy(page, after: state.asset, &report)
                if isCopied, state.asset.lexicographicallyPrecedes(last) {
                    state = try await advanced(state, to: last)
                }
            }
            meter(report.rows * 2, report.rows * 2)
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

    /// Copies assets, except those that an earlier run has copied, and compares all of them.
    ///
    /// - Returns: `true` when they are like those of the source.
    private func copy(
        _ page: [Data],
        after done: Data,
        _ report: inout Report
    ) async throws -> Bool {
        let problems = try await withThrowingTaskGroup(of: (Data, String?).self) { group in
            for checksum in page {
                let isDone = !done.lexicographicallyPrecedes(checksum)
                group.addTask { (checksum, try await problem(of: checksum, isCopied: isDone)) }
            }
            var problems: [(Data, String)] = []
            for try await case (let checksum, let problem?) in group {
                problems.append((checksum, problem))
            }
            return problems
        }
        for (checksum, problem) in problems.sorted(by: { $0.0.lexicographicallyPrecedes($1.0) }) {
            report.add("Asset \(Hexadecimal.text(checksum)): \(problem)")
        }
        return problems.isEmpty
    }

    /// Copies an asset if necessary, and returns what is wrong with its bytes in the target.
    private func problem(of checksum: Data, isCopied: Bool) async throws -> String? {
        let checksum = Array(checksum)
        if !isCopied {
            do {
                guard let contents = try await sourceAssets.open(checksum) else {
                    return "it is missing in \(source.name)"
                }
                let stored = try await targetAssets.store(contents.chunks, limit: .max)
                guard stored.checksum == checksum else {
                    return "its bytes in \(source.name) do not match it"
                }
            } catch let error as StorageError where error.isDamage {
                return "its bytes in \(source.name) are damaged"
            }
        }
        do {
            guard let contents = try await targetAssets.open(checksum) else {
                return "it is missing in \(target.name)"
            }
            var hash = SHA256()
            for try await piece in contents.chunks { hash.update(data: piece) }
            return Array(hash.finalize()) == checksum
                ? nil : "its bytes in \(target.name) do not match it"
        } catch let error as StorageError where error.isDamage {
            return "its bytes in \(target.name) are damaged"
        }
    }
}
