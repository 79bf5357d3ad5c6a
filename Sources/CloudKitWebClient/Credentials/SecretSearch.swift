/// Finds secrets in text, however a server transformed them.
///
/// Only letters and digits count, in either case, so that nothing between them hides a secret. A text
/// is read directly, and again without a layer of escapes, and decoded from base64, from hexadecimal
/// digits and from lists of numbers; each result is read again in the same ways. A secret that was
/// cut off is found by its remaining part.
struct SecretSearch: Sendable {
    /// The length from which consecutive letters and digits of a secret are hidden; fewer may be part
    /// of any word.
    private static let longestRun = 12
    /// The minimum number of letters and digits in a secret.
    static let shortest = 8
    /// The maximum number of bytes in a text that is searched.
    private static let longestText = 8192
    /// The limit on the total size of all readings, as a multiple of the text's size.
    private static let effort = 16

    /// The runs of letters and digits of the secrets as numbers, by their length.
    private let runs: [Int: Set<UInt64>]

    init(_ secrets: some Sequence<String>) {
        var runs: [Int: Set<UInt64>] = [:]
        for secret in Set(secrets) {
            let letters = Letters(SecretReading(secret))
            guard letters.digits.count >= Self.shortest else { continue }
            let length = min(letters.digits.count, Self.longestRun)
            letters.forEachRun(of: length) { _, run in runs[length, default: []].insert(run) }
        }
        self.runs = runs
    }

    /// Returns the text with a mark in place of each secret.
    func replacing(_ mark: String, in text: String) -> String {
        // No error needs more, and a server could keep its client busy.
        guard text.utf8.count <= Self.longestText else { return mark }
        var isSecret = [Bool](repeating: false, count: text.utf8.count)
        var effort = Self.effort * text.utf8.count
        var readings = [SecretReading(text)]
        while let reading = readings.popLast() {
            effort -= reading.bytes.count
            guard effort >= 0 else { return mark }
            note(reading, &isSecret)
            readings += reading.further
        }
        guard isSecret.contains(true) else { return text }
        var clean: [UInt8] = []
        for (index, byte) in text.utf8.enumerated() {
            if !isSecret[index] {
                clean.append(byte)
            } else if index == 0 || !isSecret[index - 1] {
                clean += mark.utf8
            }
        }
        return String(decoding: clean, as: UTF8.self)
    }

    /// Marks the bytes of secrets in a reading of a text.
    private func note(_ reading: SecretReading, _ isSecret: inout [Bool]) {
        let letters = Letters(reading)
        for (length, secrets) in runs {
            letters.forEachRun(of: length) { places, run in
                guard secrets.contains(run) else { return }
                for index in places { isSecret[index] = true }
            }
        }
    }
}

/// The letters and digits of a reading, as digits of base 36.
private struct Letters {
    private(set) var digits: [UInt64] = []
    private var places: [Range<Int>] = []

    init(_ reading: SecretReading) {
        for (byte, place) in zip(reading.bytes, reading.places) {
            guard let digit = byte.digit(radix: 36) else { continue }
            digits.append(UInt64(digit))
            places.append(place)
        }
    }

    /// Calls a closure with the position and the number of each run of a length.
    func forEachRun(of length: Int, _ body: (Range<Int>, UInt64) -> Void) {
        guard digits.count >= length else { return }
        // Twelve digits of base 36 are a number of 63 bits.
        let first = (1..<length).reduce(1 as UInt64) { power, _ in power * 36 }
        var run: UInt64 = 0
        for index in digits.indices {
            run = run % first * 36 + digits[index]
            let start = index - length + 1
            guard start >= 0 else { continue }
            body(places[start].lowerBound..<places[index].upperBound, run)
        }
    }
}
