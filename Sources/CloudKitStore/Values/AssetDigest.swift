public import Foundation

/// What tells one asset from another: its length and a digest of its bytes.
public struct AssetDigest: Hashable, Sendable {
    /// The number of bytes.
    public var count: Int64
    /// The digest.
    public var digest: UInt64

    /// Makes a digest that is known.
    public init(count: Int64, digest: UInt64) {
        self.count = count
        self.digest = digest
    }

    /// Makes the digest of bytes: FNV-1a over 64 bits.
    ///
    /// It tells versions of one value apart; it is no protection against someone who wants two to
    /// look alike.
    public init(_ bytes: Data) {
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        bytes.withUnsafeBytes { buffer in
            for byte in buffer { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        self.init(count: Int64(bytes.count), digest: digest)
    }
}
