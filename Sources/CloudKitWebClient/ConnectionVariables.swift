import CloudKitWire
import Foundation
import Synchronization

/// The settings of a client from environment variables.
package struct ConnectionVariables: Sendable {
    /// The variables' names.
    package enum Name {
        /// The server's address.
        package static let url = "CLOUDKIT_URL"
        /// The container of `CKContainer.default()`.
        package static let container = "CLOUDKIT_CONTAINER"
        /// The environment: development or production.
        package static let environment = "CLOUDKIT_ENVIRONMENT"
        /// The app's token.
        package static let apiToken = "CLOUDKIT_API_TOKEN"
        /// The user's token.
        package static let webAuthToken = "CLOUDKIT_WEB_AUTH_TOKEN"
        /// The file that stores the user's token between runs.
        package static let webAuthTokenFile = "CLOUDKIT_WEB_AUTH_TOKEN_FILE"
        /// The identifier of a server-to-server key.
        package static let keyID = "CLOUDKIT_KEY_ID"
        /// The file of the key's private half, in PEM form.
        package static let privateKeyFile = "CLOUDKIT_PRIVATE_KEY_FILE"
    }

    /// An error that indicates missing or unusable settings.
    package struct Incomplete: Error, CustomStringConvertible {
        /// The variable, and the problem with it.
        package let description: String
    }

    private let values: [String: String]

    /// Reads the variables of a process; an empty one counts as missing.
    package init(_ values: [String: String] = ProcessInfo.processInfo.environment) {
        self.values = values.filter { !$0.value.isEmpty }
    }

    /// Returns the client of a container or, for nil, of the one in the variables.
    package func client(container: String? = nil) throws(Incomplete) -> WebClient {
        let credentials = try credentials
        guard let container = container ?? values[Name.container] else {
            throw Incomplete(description: "CLOUDKIT_CONTAINER is not set")
        }
        let name = values[Name.environment] ?? ServiceEnvironment.development.rawValue
        guard let environment = ServiceEnvironment(rawValue: name) else {
            throw Incomplete(
                description: "CLOUDKIT_ENVIRONMENT is \(name), not development or production"
            )
        }
        let url = values[Name.url] ?? WebClient.appleURL
        if let problem = ServerAddress.problem(ofServer: url) {
            throw Incomplete(description: "CLOUDKIT_URL cannot be used: \(problem)")
        }
        // Reported here, with the variable's name, and not with the first request.
        if case .failure(let error) = HTTPClients.shared {
            throw Incomplete(description: error.message)
        }
        return WebClient(
            url: url,
            container: container,
            environment: environment,
            credentials: credentials
        )
    }

    private var credentials: WebCredentials {
        get throws(Incomplete) {
            if let keyID = values[Name.keyID] {
                try checkAlone(keyID)
                return try key(keyID)
            }
            guard let apiToken = values[Name.apiToken] else {
                let isKeyFileSet = values[Name.privateKeyFile] != nil
                throw Incomplete(
                    description: "CLOUDKIT_API_TOKEN is not set"
                        + (isKeyFileSet ? ", nor CLOUDKIT_KEY_ID beside its file" : "")
                )
            }
            try checkTokenFile()
            return Self.shared.withLock { shared in
                let identity = [
                    apiToken, values[Name.webAuthToken] ?? "", values[Name.webAuthTokenFile] ?? "",
                ]
                if let known = shared[identity] { return known }
                let made = tokens(apiToken)
                shared[identity] = made
                return made
            }
        }
    }

    /// Refuses credentials of both kinds, because it would be unclear as whom requests are sent.
    private func checkAlone(_ keyID: String) throws(Incomplete) {
        let tokens = [Name.apiToken, Name.webAuthToken, Name.webAuthTokenFile]
            .filter { values[$0] != nil }
        guard !tokens.isEmpty else { return }
        throw Incomplete(
            description: "CLOUDKIT_KEY_ID and \(tokens.joined(separator: ", ")) are set; a program "
                + "acts with a key or with tokens, so leave one kind out"
        )
    }

    /// Reports immediately when a renewed token cannot be stored: the next run would start with an
    /// old one.
    private func checkTokenFile() throws(Incomplete) {
        guard let path = values[Name.webAuthTokenFile] else { return }
        let files = FileManager.default
        let file = URL(fileURLWithPath: path)
        var isFolder: ObjCBool = false
        if files.fileExists(atPath: path, isDirectory: &isFolder) {
            if isFolder.boolValue || !files.isReadableFile(atPath: path) {
                throw Incomplete(
                    description: "CLOUDKIT_WEB_AUTH_TOKEN_FILE is \(path), which cannot be read"
                )
            }
        }
        let folder = file.resolvingSymlinksInPath().deletingLastPathComponent().path
        guard files.isWritableFile(atPath: folder) else {
            throw Incomplete(
                description: "CLOUDKIT_WEB_AUTH_TOKEN_FILE is \(path), and the folder \(folder) is "
                    + "not there or cannot be written to"
            )
        }
    }

    /// The credentials of the process; clients with the same tokens share them and renew them
    /// together.
    private static let shared = Mutex<[[String]: WebCredentials]>([:])

    private func tokens(_ apiToken: String) -> WebCredentials {
        let webAuthToken = values[Name.webAuthToken]
        guard let path = values[Name.webAuthTokenFile] else {
            return WebCredentials(apiToken: apiToken, webAuthToken: webAuthToken)
        }
        return WebCredentials(
            apiToken: apiToken,
            webAuthToken: webAuthToken,
            file: WebTokenFile(URL(fileURLWithPath: path))
        )
    }

    private func key(_ keyID: String) throws(Incomplete) -> WebCredentials {
        guard let file = values[Name.privateKeyFile] else {
            throw Incomplete(
                description: "CLOUDKIT_KEY_ID is set, and CLOUDKIT_PRIVATE_KEY_FILE, which names "
                    + "the file of the key's private half, is not"
            )
        }
        do {
            let text = try String(contentsOf: URL(fileURLWithPath: file), encoding: .utf8)
            let key = try ServerKey(keyID: keyID, privateKeyPEM: text)
            return WebCredentials(serverKey: key)
        } catch {
            throw Incomplete(
                description: "The file of CLOUDKIT_PRIVATE_KEY_FILE cannot be used: \(error)"
            )
        }
    }
}

extension ConnectionVariables: CustomStringConvertible, CustomReflectable {
    /// The names of the set variables, without their values.
    package var description: String { values.keys.sorted().joined(separator: ", ") }

    /// A mirror without the values.
    package var customMirror: Mirror { Mirror(self, children: ["set": description]) }
}
