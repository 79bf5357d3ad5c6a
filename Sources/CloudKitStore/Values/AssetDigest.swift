public import Foundation

/// The identity of an asset's content: its length and a digest of its bytes.
public struct AssetDigest: Hashable, Sendable {
    /// The number of bytes.
    public var count: Int64
    /// The digest.
    public var digest: UInt64

    /// Creates a digest from known parts.
    public init(count: Int64, digest: UInt64) {
        self.count = count
        self.digest = digest
    }

    /// Creates the digest of bytes: FNV-1a with 64 bits.
    ///
    /// It distinguishes versions of one value; it does not protect against deliberate collisions.
    public init(_ bytes: Data) {
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        bytes.withUnsafeBytes { buffer in
            for byte in buffer { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        self.init(count: Int64(bytes.count), digest: digest)
    }
}
