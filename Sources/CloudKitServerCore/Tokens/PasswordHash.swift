import Crypto
import CryptoExtras

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A stored password: scrypt's output with its salt and cost.
///
/// Each hash has its own cost, so that the cost can be raised without invalidating older hashes.
package struct PasswordHash: Hashable, Codable, Sendable {
    /// The cost parameters of scrypt.
    package struct Cost: Hashable, Codable, Sendable {
        /// The number of rounds, a power of two; together with the block size it determines the memory.
        package var rounds = 1 << 15
        /// The block size; 8 and 2^15 rounds take 32 MiB.
        package var blockSize = 8
        /// The number of times that the work is repeated, sequentially.
        package var parallelism = 3

        /// Creates a cost.
        package init(rounds: Int = 1 << 15, blockSize: Int = 8, parallelism: Int = 3) {
            self.rounds = rounds
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        /// The OWASP recommendation for 32 MiB.
        package static let recommended = Cost()
    }

    let cost: Cost
    let salt: Data
    let key: Data

    /// Hashes a password at the given cost.
    package init(_ password: String, salt: [UInt8], cost: Cost = .recommended) throws {
        self.cost = cost
        self.salt = Data(salt)
        key = try Self.key(of: password, Data(salt), cost)
    }

    /// Returns whether a password matches the hash; takes as long as hashing it.
    package func matches(_ password: String) throws -> Bool {
        let found = try Self.key(of: password, salt, cost)
        return isEqualInConstantTime(Array(found), Array(key))
    }

    private static func key(of password: String, _ salt: Data, _ cost: Cost) throws -> Data {
        try KDF.Scrypt.deriveKey(
            from: Data(password.utf8),
            salt: salt,
            outputByteCount: 32,
            rounds: cost.rounds,
            blockSize: cost.blockSize,
            parallelism: cost.parallelism
        ).withUnsafeBytes { Data($0) }
    }
}
