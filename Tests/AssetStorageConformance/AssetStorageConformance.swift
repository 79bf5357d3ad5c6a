public import CloudKitServerCore
public import Foundation
public import Testing

/// The requirements of every asset storage, whatever its implementation.
///
/// A test target of a storage calls each check with a fresh one.
public struct AssetStorageConformance: Sendable {
    /// One promise of `AssetStorage` and the code that checks it.
    public struct Check: Sendable, CustomTestStringConvertible {
        public let testDescription: String
        public let run: @Sendable (any AssetStorage) async throws -> Void
    }

    public static let checks: [Check] = storing + removing

    private struct Broken: Error {}

    /// Returns chunks one after the other.
    public static func stream(_ chunks: [Data]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for chunk in chunks { continuation.yield(chunk) }
            continuation.finish()
        }
    }

    /// Returns bytes that do not repeat themselves in pieces of any size.
    public static func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        return Data(
            (0..<count).map { _ in
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return UInt8(truncatingIfNeeded: state)
            }
        )
    }

    /// Returns the bytes of an asset; nil if there is none.
    public static func read(
        _ checksum: [UInt8],
        _ storage: any AssetStorage
    ) async throws -> Data? {
        guard let contents = try await storage.open(checksum) else { return nil }
        var found = Data()
        for try await piece in contents.chunks { found += piece }
        #expect(Int64(found.count) == contents.size)
        return found
    }

    /// Returns the milliseconds since 1970-01-01 UTC after which nothing was stored yet.
    private static var later: Int64 { Int64(Date().timeIntervalSince1970 * 1000) + 3_600_000 }

    private static let storing: [Check] = [
        Check(testDescription: "Bytes of any number and in any chunks are read back as they were") {
            storage in
            // Around the sizes at which storages change their way.
            for count in [0, 1, 65_536, 65_537, 300_000] {
                let bytes = Self.bytes(count, seed: UInt64(count))
                for chunk in [1 + count / 2, 70_000] {
                    let chunks = stride(from: 0, to: count, by: chunk).map {
                        bytes[$0..<min($0 + chunk, count)]
                    }
                    let kept = try await storage.store(Self.stream(chunks), limit: count)
                    #expect(kept.size == Int64(count))
                    let found = try await Self.read(kept.checksum, storage)
                    #expect(found == bytes, "\(count)")
                }
            }
        },
        Check(testDescription: "The same bytes have one checksum, and other bytes another") {
            storage in
            let one = try await storage.store(Self.stream([Data([1]), Data([2])]), limit: 10)
            let same = try await storage.store(Self.stream([Data([1, 2])]), limit: 10)
            let other = try await storage.store(Self.stream([Data([2, 1])]), limit: 10)
            #expect(one == same)
            #expect(one.checksum != other.checksum)
            let digits = one.checksum.map { String($0, radix: 16) }.joined()
            #expect(digits == "a12871fee210fb8619291eaea194581cbd2531e4b23759d225f6806923f63222")
        },
        Check(testDescription: "A checksum of which nothing was stored has no bytes") { storage in
            let none = try await storage.open([UInt8](repeating: 0, count: 32))
            #expect(none == nil)
        },
        Check(testDescription: "Too many bytes, or a body that breaks off, leave nothing behind") {
            storage in
            await #expect(throws: AssetTooLarge(limit: 10)) {
                try await storage.store(Self.stream([Data(count: 6), Data(count: 6)]), limit: 10)
            }
            let broken = AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data(count: 5))
                continuation.finish(throwing: Broken())
            }
            await #expect(throws: Broken.self) { try await storage.store(broken, limit: 10) }
            // SHA-256 of five zeros.
            let five = try await storage.store(Self.stream([Data(count: 5)]), limit: 10)
            try await storage.removeAsset(five.checksum, olderThan: Self.later)
            #expect(try await storage.open(five.checksum) == nil)
        },
        Check(testDescription: "Assets are stored and read at the same time") { storage in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        // Two tasks each store the same bytes.
                        let bytes = Self.bytes(100_000, seed: UInt64(number / 2))
                        let kept = try await storage.store(Self.stream([bytes]), limit: 100_000)
                        #expect(try await Self.read(kept.checksum, storage) == bytes)
                    }
                }
                try await group.waitForAll()
            }
        },
        Check(testDescription: "A reader may stop before the end") { storage in
            let bytes = Self.bytes(400_000)
            let kept = try await storage.store(Self.stream([bytes]), limit: 400_000)
            for _ in 0..<5 {
                let contents = try #require(try await storage.open(kept.checksum))
                for try await piece in contents.chunks {
                    #expect(bytes.starts(with: piece))
                    break
                }
            }
            #expect(try await Self.read(kept.checksum, storage) == bytes)
        },
    ]

    private static let removing: [Check] = [
        Check(testDescription: "Old bytes that nothing needs are removed") { storage in
            let kept = try await storage.store(Self.stream([Data([1])]), limit: 10)
            let gone = try await storage.store(Self.stream([Data([2])]), limit: 10)
            try await storage.removeAssets(olderThan: 0) { _ in false }
            #expect(try await storage.open(gone.checksum) != nil)
            try await storage.removeAssets(olderThan: Self.later) { $0 == kept.checksum }
            #expect(try await storage.open(gone.checksum) == nil)
            #expect(try await Self.read(kept.checksum, storage) == Data([1]))
        },
        Check(testDescription: "All of many old assets are removed, and each is asked about") {
            storage in
            var stored: Set<[UInt8]> = []
            for number in 0..<12 as Range<UInt8> {
                stored.insert(
                    try await storage.store(Self.stream([Data([number])]), limit: 1).checksum
                )
            }
            let needed = try #require(stored.first)
            let all = stored
            try await storage.removeAssets(olderThan: Self.later) { checksum in
                #expect(all.contains(checksum))
                return checksum == needed
            }
            for checksum in stored {
                #expect((try await storage.open(checksum) != nil) == (checksum == needed))
            }
        },
        Check(testDescription: "An error about what is needed ends the removal") { storage in
            let kept = try await storage.store(Self.stream([Data([1])]), limit: 10)
            await #expect(throws: Broken.self) {
                try await storage.removeAssets(olderThan: Self.later) { _ in throw Broken() }
            }
            #expect(try await storage.open(kept.checksum) != nil)
        },
        Check(testDescription: "One asset is removed by its checksum, unless it is newer") {
            storage in
            let kept = try await storage.store(Self.stream([Data([1])]), limit: 10)
            let other = try await storage.store(Self.stream([Data([2])]), limit: 10)
            try await storage.removeAsset(kept.checksum, olderThan: 0)
            #expect(try await storage.open(kept.checksum) != nil)
            try await storage.removeAsset(kept.checksum, olderThan: Self.later)
            #expect(try await storage.open(kept.checksum) == nil)
            // What is gone is no error.
            try await storage.removeAsset(kept.checksum, olderThan: Self.later)
            #expect(try await storage.open(other.checksum) != nil)
        },
        Check(testDescription: "Bytes that are stored again after their removal are there") {
            storage in
            let first = try await storage.store(Self.stream([Data([7])]), limit: 10)
            try await storage.removeAsset(first.checksum, olderThan: Self.later)
            let second = try await storage.store(Self.stream([Data([7])]), limit: 10)
            #expect(first == second)
            #expect(try await Self.read(second.checksum, storage) == Data([7]))
        },
    ]
}
