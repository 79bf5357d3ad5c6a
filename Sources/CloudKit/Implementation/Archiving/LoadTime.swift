#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// The state of the process while the loader runs functions of modules.
enum LoadTime {
    /// The hash value of 0 without a seed.
    private static let unseededHashValue = Int(
        truncatingIfNeeded: -4_800_647_303_603_446_203 as Int64
    )

    /// `true` once the standard library has chosen the seed of hash values.
    ///
    /// A dictionary that is filled earlier finds nothing later.
    static var hasSeed: Bool {
        var hasher = Hasher()
        hasher.combine(0 as UInt64)
        return hasher.finalize() != unseededHashValue
    }

    /// `true` once hash values remain as they are: with the variable there is never a seed.
    static var isHashingSettled: Bool {
        hasSeed || getenv("SWIFT_DETERMINISTIC_HASHING") != nil
    }
}
