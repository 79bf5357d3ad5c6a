import ArgumentParser
import CloudKitServerCore
import CloudKitWebClient
import CloudKitWire
import Foundation

/// A command that signs a user in through the service's page, and stores the token.
struct SignInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in",
        abstract: "Sign in through the service's page, and store the web auth token.",
        discussion: """
            Opens the page in a browser, or prints its URL. The token is stored in the file of \
            --token-file, which clients keep up to date from then on; in a file that a shell can \
            source, --output; or is printed as settings.
            """
    )

    @Option(help: "The file that stores the token; CLOUDKIT_WEB_AUTH_TOKEN_FILE.")
    var tokenFile: String?

    @Option(name: .customLong("output"), help: "A file for the settings, readable by you only.")
    var file: String?

    @Flag(help: "Print the address of the page instead of opening it.")
    var noBrowser = false

    @Flag(
        help: """
            Wait for the token to be typed or pasted. For a browser on another machine, and for \
            Apple's service.
            """
    )
    var paste = false

    @Option(help: "Seconds to wait for the token.")
    var waitSeconds = 300

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    @OptionGroup
    var output: OutputOptions

    func validate() throws {
        guard waitSeconds > 0 else {
            throw ValidationError("--wait-seconds \(waitSeconds): the least is 1")
        }
    }

    func run() async throws {
        let page = try await page()
        let isOurs = URLComponents(string: page)?.path.hasSuffix("/sign-in") == true
        let token =
            paste || !isOurs
            ? try pastedToken(page)
            : try await SignInCallback().token(within: waitSeconds) {
                try show(page + "&redirect=" + PercentEncoding.encode($0))
            }
        guard let token, !token.isEmpty else {
            throw CommandFailure("Nobody signed in within \(Amount.text(waitSeconds, "second"))")
        }
        let client = try connection.client(webAuthToken: token)
        let caller = try await client.caller()
        // The response may have contained the next token.
        try store(client.credentials.webAuthToken ?? token)
        Console.say("Signed in as \(DisplayText(name(of: caller)).text)")
    }

    private func name(of user: UserIdentity) -> String {
        let names = [user.nameComponents?.givenName, user.nameComponents?.familyName]
        let name = names.compactMap(\.self).joined(separator: " ")
        return name.isEmpty ? user.userRecordName : name
    }

    /// Returns the URL of the page, which the service sends to callers who are not signed in.
    private func page() async throws -> String {
        do {
            _ = try await connection.client(webAuthToken: nil).caller()
        } catch let error as WebClientError {
            guard case .refused(let refusal, _) = error,
                refusal.serverErrorCode == .authenticationRequired,
                let page = refusal.redirectURL
            else { throw error }
            return page
        }
        throw CommandFailure("The service did not return a sign-in page")
    }

    private func show(_ address: String) throws {
        if !noBrowser, Browser.open(address) {
            return Console.say("Sign in on the page that has opened in your browser")
        }
        // When settings are printed, they are the only output.
        if keepsToken {
            try Console.write(address)
        } else {
            Console.say("Open this address and sign in:\n\(address)")
        }
    }

    private func pastedToken(_ page: String) throws -> String? {
        try show(page)
        Console.say("Then paste the web auth token here:")
        return readLine()?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private var storedTokenFile: String? {
        tokenFile ?? connection.variables[ConnectionVariables.Name.webAuthTokenFile]
    }

    private var keepsToken: Bool { storedTokenFile != nil || file != nil }

    private func store(_ token: String) throws {
        if let path = storedTokenFile {
            try WebTokenFile(URL(fileURLWithPath: path)).store(token)
            Console.say("The token is in \(path); name it by CLOUDKIT_WEB_AUTH_TOKEN_FILE")
        }
        guard file != nil || storedTokenFile == nil else { return }
        typealias Name = ConnectionVariables.Name
        let known = connection.variables
        try ConnectionFile([
            Name.url: known[Name.url], Name.container: known[Name.container],
            Name.environment: known[Name.environment], Name.apiToken: known[Name.apiToken],
            Name.webAuthToken: token,
        ]).write(to: file, output)
    }
}
