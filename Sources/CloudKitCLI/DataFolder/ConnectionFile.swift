import CloudKitWebClient
import Foundation

/// Settings of a client as a file that a shell can source.
package struct ConnectionFile {
    /// The settings by variable name, in the order in which they are written.
    package let settings: [(name: String, value: String)]

    /// Creates a file of settings; those without a value are left out.
    package init(_ settings: KeyValuePairs<String, String?>) {
        self.settings = settings.compactMap { name, value in value.map { (name, $0) } }
    }

    /// The file's text.
    package var text: String {
        settings.map { "export \($0.name)=\(Self.quoted($0.value))" }.joined(separator: "\n")
    }

    /// Returns a value quoted for the shell.
    private static func quoted(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~:/+=@%".utf8.contains(byte)
            }
        }
        return isPlain ? value : "'" + value.replacing("'", with: "'\\''") + "'"
    }

    /// Prints the settings, or writes them to a file that only its owner can read.
    func write(to path: String?, _ output: OutputOptions) throws {
        if let path {
            try PrivateFile.write(text + "\n", to: path)
            Console.say("Wrote \(path); use it with: source \(path)")
        }
        if output.json {
            try output.write(Dictionary(settings.map { ($0.name, $0.value) }) { $1 })
        } else if path == nil {
            try Console.write(text)
        }
    }
}
