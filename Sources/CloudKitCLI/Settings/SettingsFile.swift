import Configuration
import Foundation

/// A file with a server's settings: a JSON object whose keys are the options' names.
struct SettingsFile {
    /// One value of the file.
    private enum Value: Decodable {
        case content(ConfigContent)
        case nothing

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .nothing
            } else if let bool = try? container.decode(Bool.self) {  // Each form is tried.
                self = .content(.bool(bool))
            } else if let int = try? container.decode(Int.self) {
                self = .content(.int(int))
            } else if let text = try? container.decode(String.self) {
                self = .content(.string(text))
            } else {
                self = .content(.stringArray(try container.decode([String].self)))
            }
        }
    }

    let path: String
    /// The names of the settings in the file.
    let names: [String]
    let values: InMemoryProvider

    /// Creates settings by reading a file.
    ///
    /// - Throws: `CommandFailure` when it cannot be read or is not an object of settings.
    init(path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure(unusable: "--config \(path): there is no file that can be read")
        }
        if let name = Self.repeatedKey(in: data) {
            throw CommandFailure(
                unusable: "--config \(path): '\(name)' stands there twice; leave one"
            )
        }
        let found: [String: Value]
        do {
            found = try JSONDecoder().decode([String: Value].self, from: data)
        } catch DecodingError.typeMismatch(_, let context) where context.codingPath.count > 0 {
            throw CommandFailure(
                unusable:
                    "--config \(path): '\(context.codingPath[0].stringValue)' is not a text, whole "
                    + "number, true, false or list of texts"
            )
        } catch {
            throw CommandFailure(
                unusable: "--config \(path): the file is not a JSON object of settings, such as "
                    + "{\"port\": 8787}"
            )
        }
        for case (let name, .nothing) in found {
            throw CommandFailure(
                unusable:
                    "--config \(path): '\(name)' is null; leave it out for the default, or give a "
                    + "value"
            )
        }
        self.path = path
        names = Array(found.keys)
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for case (let name, .content(var content)) in found {
            // A number of bytes needs no unit.
            if ServerSettings.byteCounts.contains(name), case .int(let bytes) = content {
                content = .string("\(bytes)")
            }
            values[ServerSettings.key(name)] = ConfigValue(content, isSecret: false)
        }
        self.values = InMemoryProvider(name: path, values: values)
    }

    /// Returns a key that the outermost object of a JSON text has more than once; nil if there is none.
    private static func repeatedKey(in data: Data) -> String? {
        var keys: Set<String> = []
        var (depth, isText, isEscaped) = (0, false, false)
        var text: [UInt8] = []
        for byte in data {
            if isText {
                if !isEscaped, byte == UInt8(ascii: "\"") {
                    isText = false
                } else {
                    text.append(byte)
                }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): (isText, text) = (true, [])
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ":") where depth == 1:
                let key = String(decoding: text, as: UTF8.self)
                if !keys.insert(key).inserted { return key }
            default: break
            }
        }
        return nil
    }
}
